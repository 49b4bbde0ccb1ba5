"""A freemium app's back end: AWS Lambda, one table, one library.

    function    the handler that Lambda calls
    backend     the routes, and what every request goes through
    events      Lambda's events in, its answers out
    families    what an error of the library is for a client
    purchases   plans: what the app shows, what Apple tells
    metered     calls that a plan allows so many of a day
    signup      anonymous accounts
    accounts    Sign in with Apple, deletion
    devices     App Attest and session tokens, both optional
    providers   Amazon Cognito, or what stands in for it
    records     what the back end keeps beside the ledger
    settings    the configuration file
    model       the metered work: put your own in its place
    local       all of it on one machine; never deployed
"""
