from network import send

CHARGE_TIMEOUT = 5  # seconds that the card network may take
MAX_TRIES = 3


def charge(card, cents):
    """Try a card until it works."""
    # Careful: a charge that timed out may have gone through; trying again bills twice.
    for attempt in range(MAX_TRIES):
        if send(card, cents, timeout=CHARGE_TIMEOUT):
            return True
    return False
