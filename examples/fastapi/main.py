"""The shop on FastAPI. Handlers are `def`: FastAPI runs them in threads."""
from fastapi import FastAPI, Header
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

import shop

app = FastAPI()


class Purchase(BaseModel):
    jws: str = Field(max_length=65536)


class Notification(BaseModel):
    signedPayload: str = Field(max_length=262144)


@app.post("/v1/purchases")
def purchases(body: Purchase, authorization: str = Header("")) -> JSONResponse:
    return JSONResponse(*shop.purchase(authorization, body.jws))


@app.post("/v1/notifications")
def notifications(body: Notification) -> JSONResponse:
    return JSONResponse(*shop.notify(body.signedPayload))
