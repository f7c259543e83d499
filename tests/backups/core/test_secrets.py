import pytest

from apps.backups.core.secrets import WrongPassphrase, seal_keys, unseal_keys

KEYS = {"secret-key": "one", "audit-key": "zwei ß"}
PASSPHRASE = "correct horse battery"


@pytest.fixture(scope="module")
def sealed() -> bytes:
    return seal_keys(KEYS, PASSPHRASE)


def test_keys_come_back_with_their_passphrase_are_not_readable_and_never_sealed_twice_the_same(sealed):
    assert unseal_keys(sealed, PASSPHRASE) == KEYS
    assert b"one" not in sealed
    assert seal_keys(KEYS, PASSPHRASE) != sealed


@pytest.mark.parametrize("passphrase", ["", "correct horse", "Correct horse battery"])
def test_another_passphrase_is_noticed(sealed, passphrase):
    with pytest.raises(WrongPassphrase):
        unseal_keys(sealed, passphrase)


@pytest.mark.parametrize("place", [0, 1, 20, 28, 40])
def test_a_changed_byte_and_what_was_cut_off_is_noticed(sealed, place):
    changed = bytearray(sealed)
    changed[place] ^= 1

    for content in (bytes(changed), sealed[:place]):
        with pytest.raises(WrongPassphrase):
            unseal_keys(content, PASSPHRASE)
