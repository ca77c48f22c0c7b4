"""AES-128 on plain bytes (FIPS 197), with a number of rounds, and published test vectors."""

from field import sbox, times

SBOX = [sbox(x) for x in range(256)]

# NIST SP 800-38A, appendix F.5.1: key, first counter, plaintext and ciphertext of AES-128 in counter mode.
KEY = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
COUNTER = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
PLAIN = bytes.fromhex(
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
)
CIPHER = bytes.fromhex(
    "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
    "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee"
)
# FIPS 197, appendices B and C.1: key, block, encrypted block.
BLOCKS = [
    ("2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"),
    ("000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"),
]


def round_keys(key: bytes) -> list[bytes]:
    """Return the eleven round keys."""
    words = [list(key[i : i + 4]) for i in range(0, 16, 4)]
    constant = 1
    for i in range(4, 44):
        word = words[-1]
        if i % 4 == 0:
            word = [SBOX[x] for x in word[1:] + word[:1]]
            word[0] ^= constant
            constant = times(constant, 2)
        words.append([a ^ b for a, b in zip(words[-4], word, strict=True)])
    return [bytes(x for word in words[i : i + 4] for x in word) for i in range(0, 44, 4)]


def encrypt(key: bytes, block: bytes, rounds: int = 10) -> bytes:
    """Return the encrypted block. With fewer than ten rounds this is a part of AES, for tests alone."""
    keys = round_keys(key)
    state = [a ^ b for a, b in zip(block, keys[0], strict=True)]
    for number in range(1, rounds + 1):
        state = [SBOX[state[(5 * i) % 16]] for i in range(16)]  # SubBytes and ShiftRows
        if number < rounds:
            turned = [[state[i & ~3 | (i + k) & 3] for i in range(16)] for k in range(4)]
            state = [times(a, 2) ^ times(b, 3) ^ c ^ d for a, b, c, d in zip(*turned, strict=True)]
        last = keys[10 if number == rounds else number]
        state = [a ^ b for a, b in zip(state, last, strict=True)]
    return bytes(state)


def counters(first: bytes, count: int) -> list[bytes]:
    """Return consecutive counter blocks."""
    start = int.from_bytes(first)
    return [((start + i) % (1 << 128)).to_bytes(16) for i in range(count)]


def counter_mode(key: bytes, first: bytes, data: bytes, rounds: int = 10) -> bytes:
    """Encrypt or decrypt whole blocks in counter mode."""
    stream = b"".join(encrypt(key, block, rounds) for block in counters(first, len(data) // 16))
    return bytes(a ^ b for a, b in zip(data, stream, strict=True))
