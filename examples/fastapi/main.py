"""The shop on FastAPI. Handlers are `def`: FastAPI runs them in threads."""
from typing import Annotated

from fastapi import FastAPI, Header
from fastapi.responses import JSONResponse
from pydantic import BaseModel

import shop

app = FastAPI()


class Purchase(BaseModel):
    jws: str


class Notification(BaseModel):
    signedPayload: str


@app.post("/v1/purchases")
def purchases(body: Purchase, authorization: Annotated[str, Header()] = "") -> JSONResponse:
    return JSONResponse(*shop.purchase(authorization, body.jws))


@app.post("/v1/notifications")
def notifications(body: Notification) -> JSONResponse:
    return JSONResponse(*shop.notify(body.signedPayload))
