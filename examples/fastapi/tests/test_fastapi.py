"""The shop on FastAPI, asked as its clients ask."""
import unittest

from fastapi.testclient import TestClient

from asked import Asked
from main import app


class FastApiTest(Asked, unittest.TestCase):
    BAD_BODY = 422
    client = TestClient(app)

    def post(self, path, body, headers):
        answer = self.client.post(path, json=body, headers=headers)
        return answer.status_code, answer.json(), answer.headers


if __name__ == "__main__":
    unittest.main()
