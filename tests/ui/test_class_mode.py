"""A class votes: rooms under every order of events, the phone's page, and the wall."""

import csv
import io
import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from engine import InputError
from engine.teaching.classroom import LOW, luck
from engine.teaching.neighbours import guess_bound, moves
from pages.learn import classroom, rooms
from pages.learn.games import lesson_of
from pages.learn.rooms import GAMES, Rooms, link_names
from tests.serving import ROOT
from tests.ui.steps import address, press, told

LESSON = lesson_of("cancer")
VOTERS = st.sampled_from("abcde")
CHOICES = st.lists(st.integers(-1, 40), min_size=1, max_size=4).map(tuple)


class ClassModel(RuleBasedStateMachine):
    """A room beside a plain account of what phones and walls sent."""

    def __init__(self):
        super().__init__()
        self.time = 0.0
        self.every = Rooms(lambda: self.time)
        self.room, self.other = self.every.open(LESSON), self.every.open(LESSON)
        self.joined, self.sent, self.shown = set(), [{}], [False]

    @rule(voter=VOTERS)
    def join(self, voter):
        self.every.find(self.room.code.lower()).join(voter)  # late, or again after a reload
        self.joined.add(voter)

    @rule(voter=VOTERS, choice=CHOICES, late=st.booleans())
    def vote(self, voter, choice, late):
        now = self.room.now
        self.room.vote(voter, now.number - late, choice)
        picks, options = {"links": (3, 4), "person": (1, 2), "price": (1, 40)}[now.game]
        whole = len(set(choice)) == len(choice) == picks and set(choice) <= set(range(options))
        if whole and not late and not self.shown[-1] and voter in self.joined:
            self.sent[-1][voter] = tuple(sorted(choice))

    @rule(stale=st.booleans())
    def reveal(self, stale):
        self.room.show(self.room.now.number - stale)  # a second wall that is behind
        self.shown[-1] |= not stale

    @rule(game=st.sampled_from(list(GAMES)), stale=st.booleans())
    def ask(self, game, stale):
        self.room.ask(game, self.room.now.number - stale, 1.0)
        if not stale:
            self.sent.append({})
            self.shown.append(False)

    @rule(voter=VOTERS)
    def wrong_room(self, voter):
        self.other.vote(voter, self.room.now.number, (0, 1, 2))
        assert self.every.find("QQQQ") is None or "QQQQ" in {self.room.code, self.other.code}

    @invariant()
    def votes_are_what_phones_sent(self):
        seen = self.every.find(self.room.key)  # a wall that reloads
        assert [one.votes for one in seen.questions] == self.sent
        assert [one.shown is not None for one in seen.questions] == self.shown
        assert seen.voters == self.joined
        assert not self.other.now.votes
        right, chances = seen.score()
        assert 0 <= right <= len(chances) <= sum(self.shown)
        table = list(csv.DictReader(io.StringIO(seen.table())))
        cast = sum(
            len(v)
            for sent, on in zip(self.sent, self.shown, strict=True)
            if on
            for v in sent.values()
        )
        assert sum(int(row["votes"]) for row in table) == cast


TestRooms = ClassModel.TestCase
TestRooms.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)


def test_rooms_are_bounded_and_gone_after_an_hour():
    now = [0.0]
    every = Rooms(lambda: now[0])
    room = every.open(LESSON)
    admitted = [room.join(f"{k}") for k in range(rooms.MOST_VOTERS + 5)]
    assert sum(admitted) == len(room.voters) == rooms.MOST_VOTERS
    now[0] = 1.0
    codes = {every.open(LESSON).code for _ in range(rooms.MOST_ROOMS - 1)}
    assert len(codes | {room.code}) == rooms.MOST_ROOMS
    with pytest.raises(InputError, match="rooms are open"):
        every.open(LESSON)
    now[0] = rooms.HOUR
    assert every.find(room.code) is every.find(room.key) is None
    assert every.open(LESSON).code
    now[0] = 2 * rooms.HOUR + 1
    assert not any(every.find(code) for code in codes)


def test_outputs_are_the_engines_releases_of_either_table():
    room, pair = Rooms().open(LESSON), LESSON.pair
    for number in range(1, 401):
        room.ask("person", number, 2.0)
    drawn = [(one.which, one.value) for one in room.questions[1:]]
    assert {which for which, _ in drawn} == {0, 1}
    scale = moves(pair.pair.data, pair.q).sensitivity / 2.0
    spread = sum(abs(value - pair.exact[which]) for which, value in drawn) / len(drawn)
    assert spread == pytest.approx(scale, rel=0.25)  # 5 standard errors of 400 draws


def test_luck_is_the_middle_nine_tenths_of_all_classes():
    bound = guess_bound(1.0)
    assert luck([bound] * 6) == (3, 6)
    assert luck([bound]) == (0, 1)
    assert luck([0.5] * 20) == (6, 14)
    assert luck([1.0, 0.0]) == (1, 1)


def test_lost_links_are_those_that_most_draws_lack():
    for network in ("asia", "cancer"):
        lesson = lesson_of(network)
        limits = [lesson.limits[k] for k in lesson.lost]
        assert limits == sorted(limits, reverse=True)
        kept = set(range(len(lesson.links))) - set(lesson.lost)
        assert min(limits) > LOW >= max(lesson.limits[k] for k in kept)
    assert link_names(lesson)[0] == "Polluted air → Lung cancer"


def rows(app):
    """The votes for each option, as the projector shows them after the answer."""
    return [row.proto.text for row in app.get("progress")]


def test_a_class_plays_three_games_and_every_screen_may_reload(open_app, monkeypatch):
    classroom.rooms.clear()
    first = open_app("learn", step="person", data="cancer")
    press(first, "learn-room-open")
    (room,) = classroom.rooms()._rooms.values()
    assert "phones cannot join" in told(first)
    public, python, serve, *_ = shlex.split(first.code[0].value)
    assert public == "DP_CAUSAL_EXPLORER_PUBLIC=1"
    assert python == sys.executable  # in full: it works in any folder
    assert Path(serve) == ROOT / "scripts" / "serve.py"
    assert address(first)["wall"] == room.key
    monkeypatch.setenv("DP_CAUSAL_EXPLORER_PUBLIC", "1")
    second = open_app("learn", wall=room.key)  # a reload, or another wall
    assert f"/j{room.code}" in told(second)

    def phone(voter):
        app = open_app("learn", room=room.code.lower())
        assert "Joining" in told(app)
        app.session_state["learn_voter"] = voter
        return app.run()

    phones = [phone("a"), phone("b")]
    assert room.voters == {"a", "b"}
    phones[0].pills[0].set_value([0, 1]).run()
    assert "Choose 1 more." in told(phones[0])
    phones[0].pills[0].set_value([0, 1, 2]).run()
    press(phones[0], "ballot-1-vote")
    assert room.now.votes == {"a": (0, 1, 2)}
    second.run()
    assert "Joined: **2**. Voted: **1**." in told(second)
    assert not rows(second)
    press(second, "learn-room-show")
    room.now.shown -= 60
    assert "2 of 3 choices were right" in told(second.run())
    first.run()
    missed = "CURATE misses it at every ε; Marginal PC finds it from ε = 0.17 on"
    lost = ["CURATE loses it below ε = 0.17"] * 2
    assert [row.partition(" · ")[2] for row in rows(first)] == [missed, *lost]

    room.ask("person", 1, 1.0)
    again = phone("a")  # reloaded
    press(again, "ballot-2-A")
    press(phones[1].run(), "ballot-2-A")
    press(again.run(), "ballot-2-B")
    press(phones[1], "ballot-2-B")
    assert room.now.votes == {"a": (1,), "b": (1,)}
    assert not rows(second.run())
    press(second, "learn-room-show")
    right = int(room.now.which == 1)
    assert ["(the right table)" in row for row in rows(second)] == [not right, bool(right)]
    assert f"**{right} of 1** outputs" in told(second)
    assert "9 of 10 classes get 0 to 1 right by luck" in told(second)
    assert ("You were right." in told(phones[1].run())) == bool(right)

    room.ask("price", 2, 1.0)
    for at, one in zip((10, 20), (again, phones[1]), strict=True):
        one.run()
        one.select_slider[0].set_value(at).run()
        press(one, "ballot-3-vote")
    press(second.run(), "learn-room-show")
    assert f"median is **ε = {LESSON.scene['epsilons'][10]:g}**" in told(second)
    press(second, "learn-room-close")
    assert "the server restarted" in told(phones[1].run())
    assert "Open a new room" in {b.label for b in first.run().button}
