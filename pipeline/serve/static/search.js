// Adds to the search page: suggestions in the box, keys, and a button that is disabled while a query runs.
// Every page works without this file.
"use strict";
(() => {
  const WAIT = 150; // milliseconds after the last key, until suggestions are asked for
  const LEAST = 2; // characters
  const form = document.querySelector("form[role=search]");
  if (!form) return;
  const box = form.querySelector("input[name=q]");
  const button = form.querySelector("button");

  const list = document.createElement("ul");
  const status = document.createElement("div");
  list.id = "suggestions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  list.hidden = true;
  status.className = "hidden";
  status.setAttribute("role", "status");
  form.append(list, status);
  const attributes = {
    role: "combobox", "aria-autocomplete": "list", "aria-controls": list.id, "aria-expanded": "false",
  };
  for (const [name, value] of Object.entries(attributes)) box.setAttribute(name, value);

  let typed = ""; // what the visitor wrote, while the box shows a suggestion
  let chosen = -1; // the index of the suggestion in the box, -1 for none
  let timer = 0;
  let request = null; // the request that is running

  const stop = () => {
    clearTimeout(timer);
    if (request) request.abort();
    request = null;
  };

  const close = () => {
    stop();
    list.hidden = true;
    chosen = -1;
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
    status.textContent = "";
  };

  const option = (suggestion, index) => {
    const item = document.createElement("li");
    const kind = document.createElement("span");
    item.id = `suggestion-${index}`;
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", "false");
    item.textContent = suggestion.text;
    item.dataset.text = suggestion.text;
    if (suggestion.kind !== "word") {
      kind.className = "quiet";
      kind.textContent = ` ${suggestion.kind}`;
      item.append(kind);
    }
    return item;
  };

  const show = (suggestions) => {
    list.replaceChildren(...suggestions.map(option));
    list.hidden = suggestions.length === 0;
    chosen = -1;
    box.setAttribute("aria-expanded", String(!list.hidden));
    box.removeAttribute("aria-activedescendant");
    const count = suggestions.length;
    status.textContent = count === 0 ? "" : count === 1 ? "1 suggestion" : `${count} suggestions`;
  };

  const choose = (index) => {
    const items = list.children;
    if (chosen >= 0) items[chosen].setAttribute("aria-selected", "false");
    chosen = index;
    if (index < 0) {
      box.value = typed;
      box.removeAttribute("aria-activedescendant");
      return;
    }
    items[index].setAttribute("aria-selected", "true");
    items[index].scrollIntoView({ block: "nearest" });
    box.value = items[index].dataset.text;
    box.setAttribute("aria-activedescendant", items[index].id);
  };

  const ask = async () => {
    stop();
    const text = box.value;
    if (text.trim().length < LEAST) {
      close();
      return;
    }
    const own = new AbortController();
    request = own;
    try {
      const answer = await fetch(`${form.dataset.suggest}?q=${encodeURIComponent(text)}`, { signal: own.signal });
      const found = answer.ok ? (await answer.json()).suggestions : [];
      if (request !== own || document.activeElement !== box) return;
      request = null;
      typed = text;
      show(found.filter((one) => typeof one.text === "string").slice(0, 10));
    } catch (error) {
      if (request === own) close(); // a request that was aborted changes nothing: a newer one has replaced it
    }
  };

  box.addEventListener("input", (event) => {
    button.disabled = false; // another query may be sent, and the browser then ends the former one
    if (event.isComposing) return; // an input method has not finished the word
    stop();
    timer = setTimeout(ask, WAIT);
  });
  box.addEventListener("compositionend", () => {
    stop();
    timer = setTimeout(ask, WAIT);
  });
  box.addEventListener("blur", close);

  box.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const count = list.hidden ? 0 : list.children.length;
    if (event.key === "Escape" && count) {
      choose(-1);
      close();
      event.preventDefault(); // without this the browser empties the box
    } else if (event.key === "Escape" && (box.defaultValue || !box.value)) {
      box.value = box.defaultValue; // the query of the results below
      box.blur(); // then j and k are keys again
      event.preventDefault();
    } else if (event.key === "ArrowDown" && !event.altKey) {
      if (count) choose(chosen + 1 < count ? chosen + 1 : -1);
      else ask();
      event.preventDefault();
    } else if (event.key === "ArrowUp" && count) {
      choose(chosen < 0 ? count - 1 : chosen - 1);
      event.preventDefault();
    }
  });

  list.addEventListener("mousedown", (event) => event.preventDefault()); // the box keeps the focus
  list.addEventListener("click", (event) => {
    const item = event.target.closest("[role=option]");
    if (!item) return;
    box.value = item.dataset.text;
    form.requestSubmit();
  });

  form.addEventListener("submit", (event) => {
    if (!box.value.trim()) {
      event.preventDefault();
      return;
    }
    close();
    button.disabled = true;
    form.setAttribute("aria-busy", "true");
  });
  window.addEventListener("pageshow", () => {
    button.disabled = false; // also on a page that the browser shows again from its memory
    form.removeAttribute("aria-busy");
  });

  const move = (step) => {
    const titles = [...document.querySelectorAll(".result h3 a")];
    const at = titles.findIndex((title) => title.closest(".result").contains(document.activeElement));
    const next = titles[at < 0 ? (step > 0 ? 0 : titles.length - 1) : at + step];
    if (next) next.focus();
  };

  const keys = {
    "/": () => { box.focus(); box.select(); },
    j: () => move(1),
    k: () => move(-1),
    "?": () => { location.href = form.dataset.help; },
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : null;
    if (!act) return;
    event.preventDefault();
    act();
  });
})();
