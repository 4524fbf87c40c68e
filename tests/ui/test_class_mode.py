"""A class bets together: rooms, the phone's page, the wall, and thirty who vote at once."""

import pytest

from engine import InputError
from engine.percent import percent
from engine.teaching.neighbours import guess_bound, moves
from pages.learn import class_mode, rooms
from pages.learn.rooms import Rooms
from pages.learn.tour import neighbours_of
from tests.ui.steps import press, told

PAIR = neighbours_of("cancer", "Smoker", "Cancer").at(2.0)


def test_a_room_counts_each_voter_once_until_the_answer_is_shown():
    room = Rooms().open(PAIR)
    room.which = 1
    for voter, guess in (("a", 0), ("b", 1), ("a", 1), ("c", 0)):
        room.vote(voter, guess)
    assert room.counts() == (1, 2)
    room.show()
    room.vote("d", 1)
    room.show()
    assert room.counts() == (1, 2)
    assert room.score() == (2, 3)
    before = room.number
    room.deal()
    assert (room.counts(), room.shown, room.number) == ((0, 0), False, before + 1)
    assert room.score() == (2, 3)


def test_rooms_are_bounded_and_gone_after_an_hour():
    now = [0.0]
    every = Rooms(lambda: now[0])
    room = every.open(PAIR)
    for k in range(rooms.MOST_VOTES + 5):
        room.vote(f"{k}", 0)
    assert sum(room.counts()) == rooms.MOST_VOTES
    now[0] = 1.0
    codes = {every.open(PAIR).code for _ in range(rooms.MOST_ROOMS - 1)}
    assert len(codes | {room.code}) == rooms.MOST_ROOMS
    with pytest.raises(InputError, match="rooms are open"):
        every.open(PAIR)
    assert every.find(room.code.lower()) is room
    now[0] = rooms.HOUR
    assert every.find(room.code) is None
    assert every.open(PAIR).code
    now[0] = 2 * rooms.HOUR + 1
    assert not any(every.find(code) for code in codes)


def test_outputs_are_the_engines_releases_of_either_table():
    room, middle = Rooms().open(PAIR), sum(PAIR.exact) / 2
    drawn = []
    for _ in range(400):
        room.deal()
        drawn.append((room.which, room.value))
    assert {which for which, _ in drawn} == {0, 1}
    scale = moves(PAIR.pair.data, PAIR.q).sensitivity / PAIR.epsilon
    spread = sum(abs(value - PAIR.exact[which]) for which, value in drawn) / len(drawn)
    assert spread == pytest.approx(scale, rel=0.25)  # 5 standard errors of 400 draws
    assert abs(sum(value for _, value in drawn) / 400 - middle) < 5 * scale


def test_a_phone_votes_and_the_wall_shows_it(open_app):
    class_mode.rooms.clear()
    wall = open_app("learn", step="person", network="cancer")
    press(wall, "learn-room-open")
    (code,) = class_mode.rooms()._rooms
    room = class_mode.rooms().find(code)
    assert f"?room={code}" in told(wall)
    phones = [open_app("learn", room=code) for _ in range(2)]
    for phone, guess in zip(phones, "AB", strict=True):
        assert "step" not in phone.query_params
        press(phone, f"ballot-{guess}")
        assert f"You say **{guess}**" in told(phone)
    assert room.counts() == (1, 1)
    wall.run()
    assert told(wall).count(">1</b>") == 2
    press(wall, "learn-room-show")
    assert "Right so far: 1 of 2 (50 %)" in told(wall)
    assert percent(guess_bound(room.pair.epsilon), 1) in told(wall)
    for phone, guess in enumerate(phones):
        guess.run()
        assert ("You were right." in told(guess)) == (phone == room.which)
        assert all(b.disabled for b in guess.button)
    press(wall, "learn-room-next")
    assert room.counts() == (0, 0)
    press(wall, "learn-room-close")
    phones[0].run()
    assert "no such room" in phones[0].info[0].value
