// What JavaScript adds to pages that work without it: news as they come, forms without a jump.

const body = document.body;
const live = document.getElementById("live");
const SILENT_MS = 15000;

function show(state, text) {
  if (!live || live.dataset.state === state) return;
  live.dataset.state = state;
  live.querySelector("[data-text]").textContent = text;
}

// Make one element like another one. What is the same stays, with its focus and what was typed.
function morph(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName || old.id !== fresh.id) {
    old.replaceWith(fresh);
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.nodeValue = fresh.nodeValue;
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && name !== "data-chosen" && name !== "open") old.removeAttribute(name);
  }
  for (const { name, value } of [...fresh.attributes]) {
    // What a reader has opened or closed stays so.
    if (name !== "open" && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  morphChildren(old, [...fresh.childNodes]);
}

function morphChildren(old, wanted) {
  let here = old.firstChild;
  for (const fresh of wanted) {
    const same = fresh.id ? [...old.children].find((each) => each.id === fresh.id) : null;
    if (same && same !== here) {
      // What vanished in front of it goes; moving it would take the focus away from it.
      while (here && here !== same && !wanted.some((each) => each.id && each.id === here.id)) {
        const next = here.nextSibling;
        here.remove();
        here = next;
      }
      if (here !== same) old.insertBefore(same, here);
      here = same;
    } else if (here && !same && fresh.id && here.id) {
      old.insertBefore(fresh, here);
      continue;
    }
    if (!here) {
      old.append(fresh);
      continue;
    }
    const next = here.nextSibling;
    morph(here, fresh);
    here = next;
  }
  while (here) {
    const next = here.nextSibling;
    here.remove();
    here = next;
  }
}

// Content that moves while somebody reads it is not exchanged under their eyes: they are told.
function invalidate(fresh) {
  const shown = document.getElementById("decision");
  if (!shown) return false;
  const now = fresh.getElementById("decision");
  if (now && now.dataset.digest === shown.dataset.digest) return true;
  const note = document.getElementById("moved");
  if (!now) {
    const told = fresh.querySelector("#settled [data-told]");
    note.textContent = told ? told.textContent : "This was decided meanwhile.";
  }
  note.hidden = false;
  for (const button of document.querySelectorAll("#answers button")) button.disabled = true;
  return true;
}

function take(fresh) {
  for (const part of document.querySelectorAll("[data-live]")) {
    const found = fresh.getElementById(part.id);
    if (found) morph(part, found);
  }
  for (const part of fresh.querySelectorAll("[data-live]")) {
    // A part that was not there before: the page is another one, and is drawn whole.
    if (!document.getElementById(part.id)) return false;
  }
  document.title = fresh.title;
  return true;
}

let asking = false;
let again = false;
async function refresh() {
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  try {
    const answer = await fetch(location.href, { headers: { "X-Porch-Live": "1" } });
    if (answer.status === 401) {
      show("stale", "stale: this browser needs a new link");
      return;
    }
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!invalidate(fresh) && answer.ok && !take(fresh)) {
      document.getElementById("main").replaceChildren(...fresh.getElementById("main").childNodes);
    }
  } catch {
    show("reconnecting", "reconnecting");
  } finally {
    asking = false;
    if (again) {
      again = false;
      refresh();
    }
  }
}

function listen() {
  const address = new URL(body.dataset.stream, location.href);
  address.searchParams.set("since", body.dataset.since);
  const source = new EventSource(address);
  let heard = Date.now();
  const alive = () => {
    heard = Date.now();
    show("live", "live");
  };
  source.addEventListener("open", alive);
  source.addEventListener("beat", alive);
  source.addEventListener("changed", () => {
    alive();
    refresh();
  });
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) {
      show("stale", "stale: the dashboard ended; start it again and use its link");
    } else {
      show("reconnecting", "reconnecting");
    }
  });
  setInterval(() => {
    if (source.readyState === EventSource.OPEN && Date.now() - heard > SILENT_MS) {
      show("stale", "stale: no news for a while");
    }
  }, 1000);
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
}

// A second click while the first is on its way would only be told that somebody was first.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-decide]")) return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "1";
  setTimeout(() => delete form.dataset.sent, 5000);
});

// Keys. Letters do nothing while somebody types, or where they are switched off.
const PLACES = { i: "/", p: "/protocols", l: "/plans", w: "/worktrees", d: "/doctor" };
let going = 0;

function step(by) {
  const items = [...document.querySelectorAll("[data-open]")];
  if (!items.length) return;
  const here = items.indexOf(document.activeElement);
  const next = here < 0 ? (by > 0 ? 0 : items.length - 1) : here + by;
  items[Math.min(Math.max(next, 0), items.length - 1)].focus();
}

function reach(...choices) {
  const found = choices.map((each) => document.querySelector(each)).find(Boolean);
  if (found) {
    found.focus();
    found.scrollIntoView({ block: "nearest" });
  }
}

let differences = -1;
const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  a: () => reach("#answer-approved button", "#answer-waived textarea"),
  r: () => reach("#answer-rejected textarea"),
  q: () => reach("#answer-answered textarea"),
  d: () => {
    const all = [...document.querySelectorAll(".diff")];
    if (!all.length) return;
    differences = (differences + 1) % all.length;
    all[differences].scrollIntoView({ block: "start" });
  },
  l: () => location.reload(),
  "/": () => reach("#search"),
  "?": () => location.assign("/keys"),
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "Escape" && typing) typing.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || body.dataset.keys === "off") return;
  if (Date.now() - going < 1500 && PLACES[event.key]) {
    going = 0;
    location.assign(PLACES[event.key]);
    return;
  }
  going = event.key === "g" ? Date.now() : 0;
  const act = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null;
  if (act) {
    event.preventDefault();
    act();
  }
});

// A large picture begins where the run is, and not in a corner without anything.
for (const box of document.querySelectorAll("[data-x]")) {
  const picture = box.querySelector("img");
  const centre = () =>
    box.scrollTo(box.dataset.x - box.clientWidth / 2, box.dataset.y - box.clientHeight / 2);
  if (picture.complete) centre();
  else picture.addEventListener("load", centre, { once: true });
}

if (live && body.dataset.stream) listen();
