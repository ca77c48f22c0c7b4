"""Typical programs of users. mypy checks their types; they are never run."""

from typing import Literal, assert_type

import solinas as sl


class U12(sl.UInt, width=12):
    """A type of another width with a name that static checkers know."""


class Price(sl.Fixed, width=16, fraction=8):
    """A fixed-point type with a name that static checkers know."""


@sl.program
def price(a: sl.U32, b: sl.U32) -> sl.U32:
    return sl.select(a > b, a * b, a + 1) << 2


@sl.program
def winner(bids: sl.Array[sl.U16, Literal[8]], floor: sl.U16) -> tuple[sl.U16, sl.UInt]:
    assert_type(bids.max(), sl.U16)
    assert_type((bids > floor).any(), sl.Bool)
    return bids.max(), bids.argmax()


@sl.program(name="narrow")
def renamed(a: sl.U32, c: sl.Bool) -> U12:
    return sl.select(c & (a != 0), a.cast(U12), 7)


def client_side(client: sl.ClientKey, key: sl.ServerKey) -> None:
    server = sl.Server(key, threads=2)
    a = client.encrypt(sl.u32(1234))
    xs = client.encrypt([1, 2], sl.U8)
    assert_type(a, sl.U32)
    assert_type(client.encrypt(5, sl.U8), sl.U8)
    assert_type(xs, sl.EncryptedArray[sl.U8])
    assert_type(a + 1, sl.U32)
    assert_type(a > 1, sl.Bool)
    assert_type((a > 1).select(a, a**2), sl.U32)
    assert_type(server.run(a * 2), sl.U32)
    assert_type(server.run((a, a > 1)), tuple[sl.U32, sl.Bool])
    assert_type(server.start(xs + 1), sl.Job[sl.EncryptedArray[sl.U8]])
    assert_type(server.random(sl.U8, seed="s"), sl.U8)
    assert_type(server.random(sl.U8, (2, 3), seed=b"s"), sl.EncryptedArray[sl.U8])
    assert_type(xs > 1, sl.EncryptedArray[sl.Bool])
    assert_type(xs.max(), sl.U8)
    assert_type(xs[0], sl.U8)
    assert_type(sl.sort(xs), sl.EncryptedArray[sl.U8])
    assert_type(xs.sort(), sl.EncryptedArray[sl.U8])
    assert_type(xs.floor_div(2), sl.EncryptedArray[sl.U8])
    assert_type(a.overflowing_add(1), tuple[sl.U32, sl.Bool])
    assert_type(sl.isqrt(a), sl.U32)
    amount = client.encrypt(Price("0.1"))
    assert_type(amount, Price)
    assert_type(amount * 0.5 + amount / 2, Price)
    assert_type(amount > 1.5, sl.Bool)
    assert_type(round(amount), sl.Int)
    assert_type(client.encrypt(sl.text("abc", 8)).lower(), sl.Text)
    assert_type(xs[1:], sl.EncryptedArray[sl.U8])
    assert_type(sl.U32.load("a.ct"), sl.U32)
    assert_type(key.encrypt(5, sl.U8), sl.U8)
    assert_type(price(sl.u32(1), sl.u32(2)), sl.U32)
    assert_type(sl.lookup([0, 1], sl.bool_(True), sl.U8), sl.U8)
    assert_type(sl.maximum(sl.u8(1), 2), sl.U8)
    server.start(price(a, a)).result(timeout=1.0)
    price(client.encrypt([1, 2], sl.U32), 5)
    price(1, 2)  # type: ignore[call-overload]
    sl.u8(1) + sl.u16(2)  # type: ignore[operator]
