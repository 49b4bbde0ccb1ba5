# Frame of README.md: a folder of requests and a day's log.
mkdir requests
assay mint transaction-receipt --authority ./authority > requests/1
assay mint app-receipt --authority ./authority > requests/2
assay mint --day 200 --authority ./authority --out day.ndjson
# SNIPPET
test -s day.html
