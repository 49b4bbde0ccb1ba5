"""A freemium app's back end: AWS Lambda, one table, one library.

    function    the handler that Lambda calls
    backend     the routes, and the checks before every one of them
    events      requests from Lambda's events, and responses to them
    families    the HTTP status for each family of errors of the library
    purchases   plans, from the app's purchases and Apple's notifications
    metered     calls with a daily quota of the plan
    signup      anonymous accounts
    accounts    Sign in with Apple, deletion
    promotions  what is granted once a device
    sweep       the schedule that asks Apple about due subscriptions
    reconcile   the schedule that compares the ledger with Apple
    refunds     Apple's questions about refunds, and the schedule that answers them
    changes     a message when what an account has has changed
    push        where it is published
    devices     App Attest and session tokens, both optional
    providers   Amazon Cognito, or its local substitute
    records     data that the back end stores beside the ledger
    settings    the configuration file
    model       the metered work: replace it with your own
    bedrock     models of Amazon Bedrock as the metered work
    reverify    an operator's command: the last evidence again
    operate     the other commands of an operator
    local       all of it on one machine; never deployed
"""
