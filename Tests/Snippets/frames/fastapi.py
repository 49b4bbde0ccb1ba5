"""Frame of docs/tasks/frameworks.md: a shop on FastAPI, asked as its clients ask."""
import routes

routes.prepare()
# SNIPPET
from fastapi.testclient import TestClient

client = TestClient(app)


def post(path, body, headers):
    answer = client.post(path, json=body, headers=headers)
    return answer.status_code, answer.json(), answer.headers


routes.ask(post, bad_body=422)
