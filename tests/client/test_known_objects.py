"""News of objects, once, twice, late, and about others of the same name."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from berthing.api.pod import Pod
from berthing.client.known_objects import KnownObjects
from client.objects import Heard, pod


def known(*pods: Pod) -> tuple[KnownObjects[Pod], Heard]:
    heard = Heard()
    objects = KnownObjects(Pod, heard)
    for each in pods:
        objects.listed(each)
    heard.take()
    return objects, heard


def test_the_life_of_an_object() -> None:
    objects, heard = known()
    assert objects.seen(pod("web", 5))
    assert objects.seen(pod("web", 7))
    assert objects.deleted(pod("web", 8))
    assert heard.take() == ["+web@5", "web@5>7", "-web@7"]
    assert objects.by_key == {}


def test_old_news_is_dropped() -> None:
    objects, heard = known(pod("web", 7))
    assert not objects.seen(pod("web", 7))
    assert not objects.seen(pod("web", 6))
    assert not objects.deleted(pod("web", 6))
    assert heard.take() == []


def test_nine_comes_before_ten() -> None:
    objects, heard = known(pod("web", 9))
    assert objects.seen(pod("web", 10))
    assert heard.take() == ["web@9>10"]


def test_versions_that_are_no_numbers_count_as_they_come() -> None:
    objects, heard = known(pod("web", "b"))
    assert not objects.seen(pod("web", "b"))
    assert objects.seen(pod("web", "a"))
    assert heard.take() == ["web@b>a"]


def test_a_deletion_may_have_the_version_that_is_known() -> None:
    objects, heard = known(pod("web", 7))
    assert objects.deleted(pod("web", 7))
    assert heard.take() == ["-web@7"]


def test_who_is_deleted_does_not_come_back() -> None:
    objects, heard = known(pod("web", 7))
    objects.deleted(pod("web", 8))
    assert not objects.seen(pod("web", 7))
    assert not objects.seen(pod("web", 6))
    assert heard.take() == ["-web@7"]


def test_an_object_that_left_a_selector_may_enter_it_again() -> None:
    objects, heard = known(pod("web", 7))
    objects.deleted(pod("web", 8))
    assert objects.seen(pod("web", 9))
    assert heard.take() == ["-web@7", "+web@9"]


def test_another_object_of_the_same_name_is_a_deletion_and_an_add() -> None:
    objects, heard = known(pod("web", 7, uid="old"))
    assert objects.seen(pod("web", 9, uid="new"))
    assert heard.take() == ["-web@7", "+web@9"]


def test_late_news_of_the_one_before_does_not_touch_its_successor() -> None:
    objects, heard = known(pod("web", 7, uid="old"))
    objects.seen(pod("web", 9, uid="new"))
    heard.take()
    assert not objects.deleted(pod("web", 8, uid="old"))
    assert not objects.seen(pod("web", 7, uid="old"))
    assert heard.take() == []


def test_the_deletion_of_a_successor_that_was_never_seen() -> None:
    objects, heard = known(pod("web", 7, uid="old"))
    assert objects.deleted(pod("web", 9, uid="new"))
    assert heard.take() == ["-web@7"]


def test_a_list_tells_what_was_missed() -> None:
    objects, heard = known(pod("same", 1), pod("newer", 2), pod("other", 3), pod("gone", 4))
    for each in (pod("same", 1), pod("newer", 12), pod("other", 13, uid="x"), pod("added", 14)):
        objects.listed(each)
    objects.keep_only({f"default/{name}" for name in ("same", "newer", "other", "added")})
    assert heard.take() == ["newer@2>12", "-other@3", "+other@13", "+added@14", "-gone@4"]


def test_a_list_is_believed_even_if_it_is_older() -> None:
    objects, heard = known(pod("web", 9))
    objects.listed(pod("web", 3))
    assert heard.take() == ["web@9>3"]


# A history of one name: each step makes, changes or deletes whatever has the name at that time.
STEPS = st.lists(st.sampled_from(["make", "change", "delete"]), max_size=12)


@given(steps=STEPS, data=st.data())
def test_repeated_and_late_news_changes_nothing(steps: list[str], data: st.DataObject) -> None:
    history = played(steps)
    once, heard_once = known()
    for type_, obj in history:
        tell(once, type_, obj)
    again, heard_again = known()
    for index, (type_, obj) in enumerate(history):
        tell(again, type_, obj)
        for late in data.draw(st.lists(st.integers(0, index), max_size=3)):
            tell(again, *history[late])
    assert heard_again.news == heard_once.news
    assert dict(again.by_key) == dict(once.by_key)


def played(steps: list[str]) -> list[tuple[str, Pod]]:
    history: list[tuple[str, Pod]] = []
    uid = 0
    alive = False
    for version, step in enumerate(steps, start=8):
        if step == "make" and not alive:
            uid += 1
            alive = True
            history.append(("seen", pod("web", version, uid=f"uid-{uid}")))
        elif step == "change" and alive:
            history.append(("seen", pod("web", version, uid=f"uid-{uid}")))
        elif step == "delete" and alive:
            alive = False
            history.append(("deleted", pod("web", version, uid=f"uid-{uid}")))
    return history


def tell(objects: KnownObjects[Pod], type_: str, obj: Pod) -> None:
    if type_ == "seen":
        objects.seen(obj)
    else:
        objects.deleted(obj)
