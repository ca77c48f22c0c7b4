"""`solinas rsa` agrees with known answers of NIST and RSA Laboratories, and with OpenSSL (from pyca/cryptography)."""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

ROOT = Path(__file__).parent.parent.parent
HASHES = ("sha256", "sha384", "sha512")
OAEP_HASHES = ("sha1", *HASHES)


@pytest.fixture(scope="module")
def solinas():
    """Return a runner of the command, which `cargo xtask python-package` builds."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))

    def run(*arguments, stdin=b"", passphrase="wrong"):
        command = [target / "debug" / "solinas", "rsa", *arguments]
        # The command has no terminal to ask for a passphrase.
        environment = os.environ | {"SOLINAS_PASSPHRASE": passphrase}
        return subprocess.run(command, input=stdin, capture_output=True, check=False, env=environment)

    return run


def vectors(*path):
    return files("cryptography_vectors").joinpath("asymmetric", "RSA", *path).read_text()


def der(tag, content):
    size = len(content)
    if size < 128:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 128 + len(length)]) + length + content


def sequence(*numbers):
    """Return the DER encoding of a SEQUENCE of INTEGERs."""
    return der(0x30, b"".join(der(2, number.to_bytes(number.bit_length() // 8 + 1, "big")) for number in numbers))


def public_key(n, e):
    return sequence(n, e)


def private_key(p, q, e):
    p, q = max(p, q), min(p, q)
    d = pow(e, -1, (p - 1) * (q - 1))
    return sequence(0, p * q, e, d, p, q, d % (p - 1), d % (q - 1), pow(q, -1, p))


def check_all(check, cases):
    """Run a check on all cases, on two threads, and return their number."""
    with ThreadPoolExecutor(2) as pool:
        for fault in pool.map(lambda case: check(*case), enumerate(cases)):
            assert fault is None, fault
    return len(cases)


def cavs(name):
    """Return the cases of a CAVS file. Each holds the numbers of its modulus and its own."""
    modulus, case, cases = {}, {}, []
    for line in vectors(*name.split("/")).splitlines():
        if line.startswith("[mod"):
            modulus, case = {}, {}
        elif match := re.match(r"(n|p|q|e|d|SHAAlg|Msg|S|SaltVal|Result) *= *(\S+)", line):
            field, value = match.groups()
            if field == "SHAAlg":
                modulus, case = modulus | case if "Msg" not in case else modulus, {}
            case[field] = value
        is_last = "Result" in case if "SigVer" in name else "S" in case
        if is_last:
            cases.append(modulus | case)
            case = {field: value for field, value in case.items() if field in "ed"}
    return [case for case in cases if case["SHAAlg"].lower() in HASHES]


@pytest.mark.parametrize(
    ("name", "padding", "counts"),
    [
        ("FIPS_186-2/SigGen15_186-3.rsp", "pkcs1", (150, 150)),
        ("FIPS_186-2/SigGenPSS_186-3.rsp", "pss", (150, 150)),
        ("FIPS_186-2/SigVer15_186-3.rsp", "pkcs1", (270, 45)),
        ("FIPS_186-2/SigVerPSS_186-3.rsp", "pss", (270, 45)),
        ("SigVer15EMTest.txt", "pkcs1", (90, 0)),
    ],
)
def test_verification_accepts_and_refuses_as_published(solinas, tmp_path, name, padding, counts):
    def check(i, case):
        key, signature = tmp_path / f"{i}.key", tmp_path / f"{i}.sig"
        key.write_bytes(public_key(int(case["n"], 16), int(case["e"], 16)))
        signature.write_bytes(bytes.fromhex(case["S"]))
        done = solinas(
            *("verify", "--research", "--key", key, "--signature", signature, "-"),
            *("--padding", padding, "--hash", case["SHAAlg"].lower()),
            stdin=bytes.fromhex(case["Msg"]),
        )
        accepted = case.get("Result", "P") == "P"
        if done.returncode != (0 if accepted else 1) or (not accepted and b"signature" not in done.stderr):
            return f"{name}, case {i}: {case}: {done.stdout}{done.stderr}"
        return None

    cases = cavs(name)
    valid = sum(case.get("Result", "P") == "P" for case in cases)
    assert (check_all(check, cases), valid) == counts


def test_pkcs1_signatures_are_those_published(solinas, tmp_path):
    def check(i, case):
        key = tmp_path / f"{i}.key"
        key.write_bytes(private_key(int(case["p"], 16), int(case["q"], 16), int(case["e"], 16)))
        for method in ("word", "fft"):
            done = solinas(
                *("sign", "--research", "--key", key, "-o", "-", "-", "--padding", "pkcs1"),
                *("--hash", case["SHAAlg"].lower(), "--method", method),
                stdin=bytes.fromhex(case["Msg"]),
            )
            if done.stdout != bytes.fromhex(case["S"]):
                return f"case {i}: {case}: {done.stderr}"
        return None

    cases = [case for case in cavs("FIPS_186-2/SigVer15_186-3.rsp") if case["Result"] == "P"]
    assert check_all(check, cases) == 45


def laboratories(*path):
    """Return the cases (key in DER, message, ciphertext, title) of a file in the format of RSA Laboratories."""
    values, cases, title, field = {}, [], "", None
    for line in [*vectors(*path).splitlines(), "#"]:
        text = line.strip()
        if text.startswith("#"):
            if field == "Encryption":
                key = private_key(*(int(values[name], 16) for name in ("Prime 1", "Prime 2", "Public exponent")))
                cases.append((key, bytes.fromhex(values["Message"]), bytes.fromhex(values["Encryption"]), title))
            name = text.strip("#: ")
            title = name if " Example " in f" {name} " else title
            field = name if text.endswith(":") else None
            values[field] = ""
        elif field:
            values[field] += text.replace(" ", "")
    return cases


@pytest.mark.parametrize("hash_name", OAEP_HASHES)
@pytest.mark.parametrize("mgf", OAEP_HASHES)
def test_oaep_decrypts_as_published(solinas, tmp_path, hash_name, mgf):
    def check(i, case):
        key, message, ciphertext, title = case
        path = tmp_path / f"{i}.key"
        path.write_bytes(key)
        assert f"alg={hash_name} mgf1={mgf}" in title or hash_name == mgf == "sha1"
        arguments = ["decrypt", "--research", "--key", path, "-", "--hash", hash_name, "--mgf-hash", mgf]
        done = solinas(*arguments, stdin=ciphertext)
        return None if done.stdout == message else f"{title}: {done.stderr}"

    # The name of a file starts with the hash of the masks. RSA Laboratories made only the file of SHA-1.
    custom = ("oaep-custom", f"oaep-{mgf}-{hash_name}.txt")
    cases = laboratories(*(("pkcs-1v2-1d2-vec", "oaep-vect.txt") if hash_name == mgf == "sha1" else custom))
    assert check_all(check, cases) > 50


def test_pkcs1_decrypts_as_published(solinas, tmp_path):
    def check(i, case):
        key, message, ciphertext, title = case
        path = tmp_path / f"{i}.key"
        path.write_bytes(key)
        done = solinas("decrypt", "--research", "--key", path, "-", "--padding", "pkcs1", stdin=ciphertext)
        return None if done.stdout == message else f"{title}: {done.stderr}"

    assert check_all(check, laboratories("pkcs1v15crypt-vectors.txt")) == 300


def test_malformed_pkcs1_gives_the_messages_of_openssl(solinas, tmp_path):
    """Invalid padding of every kind gives the result of OpenSSL 3.2 and later, which pyca/cryptography contains."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    path = tmp_path / "key"
    path.write_bytes(key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()))
    numbers = key.public_key().public_numbers()

    def check(i, block):
        ciphertext = pow(int.from_bytes(block), numbers.e, numbers.n).to_bytes(256)
        expected = key.decrypt(ciphertext, PKCS1v15())
        done = solinas("decrypt", "--key", path, "-", "--padding", "pkcs1", stdin=ciphertext)
        return None if (done.returncode, done.stdout) == (0, expected) else f"case {i}: {block.hex()}: {done}"

    filler, message = bytes(range(1, 246)), b"a message"
    blocks = [
        b"\x00\x02" + filler[: 245 - len(message)] + b"\x00" + message,
        b"\x00\x01" + filler[: 245 - len(message)] + b"\x00" + message,
        b"\x01\x02" + filler[: 245 - len(message)] + b"\x00" + message,
        b"\x00\x02" + filler[:7] + b"\x00" + filler + b"\x01",
        b"\x00\x02" + filler[:8] + b"\x00" + filler,
        b"\x00\x02" + filler + bytes(range(1, 10)),
        b"\x00\x02" + bytes(254),
        bytes(256),
    ]
    blocks += [bytes(2) + i.to_bytes(254) for i in range(40)]
    assert check_all(check, [block[:256] for block in blocks]) == 48


def test_oaep_with_a_label_decrypts_as_published(solinas, tmp_path):
    case = dict(re.findall(r"^(\w+) = (.*)$", vectors("oaep-label.txt"), re.MULTILINE))
    key = tmp_path / "key"
    key.write_bytes(bytes.fromhex(case["KEY"]))
    arguments = ["decrypt", "--key", key, "-", "--hash", case["OAEPDigest"].lower()]
    label = ["--label-hex", case["OAEPLabel"]]
    assert solinas(*arguments, *label, stdin=bytes.fromhex(case["Input"])).stdout == case["Output"].strip('"').encode()
    assert solinas(*arguments, stdin=bytes.fromhex(case["Input"])).returncode == 1


def test_keys_of_other_programs_are_read(solinas, tmp_path):
    folder = files("cryptography_vectors").joinpath("asymmetric")
    read = {
        "PEM_Serialization/rsa_public_key.pem": "public key, 2048 bits",
        "DER_Serialization/rsa_public_key.der": "public key, 2048 bits",
        "DER_Serialization/testrsa.der": "private key, 2048 bits",
        "DER_Serialization/unenc-rsa-pkcs8.der": "private key, 1024 bits",
        "Traditional_OpenSSL_Serialization/testrsa.pem": "private key, 2048 bits",
        "PKCS8/unenc-rsa-pkcs8.pem": "private key, 1024 bits",
        "public/PKCS1/rsa.pub.pem": "public key, 1024 bits",
        "PKCS8/rsa_pss_2048.pem": "PSS signatures\n",
        "PKCS8/rsa_pss_2048_hash.pem": "PSS signatures with SHA-256, masks by SHA-1 and at least 20 bytes of salt",
        "PKCS8/rsa_pss_2048_hash_mask.pem": "with SHA-256, masks by SHA-256 and at least 20 bytes",
        "PKCS8/rsa_pss_2048_hash_mask_diff.pem": "with SHA-256, masks by SHA-512 and at least 20 bytes",
        "PKCS8/rsa_pss_2048_hash_mask_salt.pem": "with SHA-256, masks by SHA-256 and at least 32 bytes",
        "PKCS8/rsa_pss_2048_pub.der": "PSS signatures\n",
    }
    passphrases = {
        "PKCS8/enc2-rsa-pkcs8.pem": "baz",
        "DER_Serialization/enc2-rsa-pkcs8.der": "baz",
        "PKCS8/enc-rsa-3des.pem": "password",
        "PKCS8/rsa-aes-192-cbc.pem": "PolarSSLTest",
        "PKCS8/rsa_pkcs8_pbes2_pbkdf2_2048_3des_sha224.pem": "PolarSSLTest",
        "PKCS8/rsa_pkcs8_pbes2_pbkdf2_2048_3des_sha384.pem": "PolarSSLTest",
        "PKCS8/rsa_pkcs8_pbes2_pbkdf2_2048_3des_sha512.pem": "PolarSSLTest",
    }
    for name in passphrases:
        read[name] = "primes pass"
    for name, expected in read.items():
        path = tmp_path / "key"
        path.write_bytes(folder.joinpath(name).read_bytes())
        done = solinas("inspect", path, passphrase=passphrases.get(name, "wrong"))
        assert expected in done.stdout.decode(), (name, done)
    # The contents decide, and not the label: OpenSSL reads these too.
    for name in ("PEM_Serialization/rsa_wrong_delimiter_public_key.pem", "PKCS8/wrong-pem-delimiter-rsa.pem"):
        path = tmp_path / "key"
        path.write_bytes(folder.joinpath(name).read_bytes())
        assert "2048 bits" in solinas("inspect", path).stdout.decode(), name
    refused = {
        "PEM_Serialization/rsa_private_key.pem": "openssl pkey",
        "PEM_Serialization/rsa-bad-1025-q-is-2.pem": "",
        "PEM_Serialization/ec_public_key.pem": "1.2.840.10045.2.1",
        "PKCS8/enc-rsa-pkcs8.pem": "not PBES2",
        "PKCS8/enc2-rsa-pkcs8.pem": "passphrase does not decrypt",
        "PKCS8/enc-rsa-pkcs8-pbkdf2-0iter.pem": "passphrase does not decrypt",
        "PKCS8/rsa-rc2-cbc.pem": "openssl pkey",
        "PKCS8/rsa-pbewithmd5anddescbc.pem": "not PBES2",
        "PKCS8/ec_private_key.pem": "1.2.840.10045.2.1",
        "PKCS8/invalid-version.der": "",
        "DER_Serialization/enc-rsa-pkcs8.der": "not PBES2",
        "DER_Serialization/dsa_public_key.der": "1.2.840.10040.4.1",
        "Traditional_OpenSSL_Serialization/rsa-wrong-version.pem": "",
        "Traditional_OpenSSL_Serialization/testrsa-encrypted.pem": "openssl pkey",
    }
    for name, expected in refused.items():
        path = tmp_path / "key"
        path.write_bytes(folder.joinpath(name).read_bytes())
        done = solinas("inspect", path)
        message = done.stderr.decode()
        assert done.returncode == 1, (name, done)
        assert expected in message, (name, message)
        assert "help: " in message, (name, message)
