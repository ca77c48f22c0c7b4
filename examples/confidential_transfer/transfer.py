"""A server moves encrypted amounts between accounts with encrypted balances, and sees neither.

A transfer moves its amount if the balance of the sender suffices, and 0 if it does not. Nobody but the client learns
which. The pairs of accounts are public.

    python transfer.py                              # 8 accounts of 256 bits, 8 transfers
    python transfer.py --bits 64 --steps 5
"""

import argparse
import importlib.util
import random
import sys
import time

import solinas as sl


def transfer_of(kind: type[sl.UInt]) -> sl.Program:
    """Return the program of one transfer of integers of this type."""

    @sl.program
    def transfer(sender: kind, receiver: kind, amount: kind) -> tuple[kind, kind]:
        """Return both balances after the transfer."""
        moved = sl.select(sender >= amount, amount, 0)
        return sender - moved, receiver + moved

    return transfer


Step = list[tuple[int, int, int]]


def history(args: argparse.Namespace) -> tuple[list[int], list[Step]]:
    """Return the first balances, and steps of transfers (sender, receiver, amount). An account is in a step once."""
    source = random.Random(args.seed)
    most = (1 << args.bits) // args.accounts  # so that the total fits
    balances = [source.randrange(most) for _ in range(args.accounts)]
    steps = []
    for _ in range(args.steps):
        order = source.sample(range(args.accounts), args.accounts - args.accounts % 2)
        steps.append([(*pair, source.randrange(most)) for pair in zip(order[::2], order[1::2], strict=True)])
    return balances, steps


def plain(balances: list[int], steps: list[Step]) -> tuple[list[int], int]:
    """Return the last balances by plain Python, and how many transfers moved their amount."""
    balances, moved = list(balances), 0
    for sender, receiver, amount in (transfer for step in steps for transfer in step):
        if balances[sender] >= amount:
            balances[sender] -= amount
            balances[receiver] += amount
            moved += 1
    return balances, moved


def run(args: argparse.Namespace) -> int:
    """Run the demonstration. Returns the exit status, which is 1 if a balance is wrong."""
    kind = sl.uint(args.bits)
    transfer = transfer_of(kind)
    first, steps = history(args)
    count = sum(map(len, steps))

    # The client encrypts the balances and the amounts. It keeps its key.
    client, server_key = sl.keygen("tfhe", params="integers-128")
    balances = client.encrypt(first, kind)
    amounts = [client.encrypt([amount for _, _, amount in step], kind) for step in steps]
    size = len(amounts[0].to_bytes()) / len(steps[0])
    print(f"client: {args.accounts} accounts of {args.bits} bits; {size:.0f} bytes for each amount that it sends")

    # The server has the server key, the encrypted balances and amounts, and the pairs of accounts.
    server = sl.Server(server_key, threads=args.threads)
    cost = server.estimate(transfer, elements=len(steps[0]))
    each = cost.bootstraps // len(steps[0])
    print(f"server: {each} bootstraps a transfer, depth {cost.depth}, {server.threads} threads", flush=True)
    bar = sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None
    start = time.perf_counter()
    for step, amount in zip(steps, amounts, strict=True):
        senders, receivers = [list(places) for places in zip(*step, strict=True)][:2]
        changed = server.run(transfer(balances[senders], balances[receivers], amount), progress=bar)
        parts = [balances[i] for i in range(args.accounts)]
        for places, new in zip((senders, receivers), changed, strict=True):
            for i, place in enumerate(places):
                parts[place] = new[i]
        balances = sl.EncryptedArray.stack(parts)
    seconds = time.perf_counter() - start
    print(f"server: {count} transfers in {len(steps)} steps, {seconds:.1f} s, {seconds / count:.2f} s a transfer")

    found = [int(balance) for balance in client.decrypt(balances)]
    wanted, moved = plain(first, steps)
    print(f"client: {moved} transfers moved their amount, and {count - moved} moved 0")
    right = found == wanted
    print("every balance is equal to plain Python's" if right else "BALANCES DIFFER from plain Python's")
    same = sum(found) == sum(first)
    print("the total has not changed" if same else "THE TOTAL HAS CHANGED")
    print("published: tfhe-rs documents this workload by a chart, without a figure that we can repeat here")
    return 0 if right and same else 1


def main() -> int:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=256, help="bits of a balance, 2 to 256 (default: 256)")
    parser.add_argument("--accounts", type=int, default=8, help="the number of accounts, 2 or more (default: 8)")
    parser.add_argument("--steps", type=int, default=2, help="steps, in which each account takes part (default: 2)")
    parser.add_argument("--seed", type=int, default=1, help="the seed of balances and transfers (default: 1)")
    parser.add_argument("--threads", type=int, help="threads of the server (default: the number of processors)")
    args = parser.parse_args()
    for name, least, most in (("bits", 2, 256), ("accounts", 2, 1000), ("steps", 1, 1000), ("threads", 1, 1000)):
        value = getattr(args, name)
        if value is not None and not least <= value <= most:
            parser.error(f"--{name} is {value}: give a number from {least} to {most}")
    if 1 << args.bits < args.accounts:
        parser.error(f"--bits is {args.bits}: give more bits for {args.accounts} accounts")
    try:
        return run(args)
    except sl.SolinasError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
