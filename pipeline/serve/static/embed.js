/* A search box for any web page: one script, no other request until somebody searches.

     <script src="https://search.example.org/static/embed.js" async></script>

   The box appears where the script stands, or in the element that data-target names. Results appear below it
   if the server allows the page to ask (crawlctl serve --allow-origin https://this-page.example); otherwise
   the form leads to the search page. Attributes of the script:

     data-target="#search"          the element to put the box into
     data-site="docs.example.org"   search this site alone
     data-placeholder="Search"      the text in the empty box
     data-limit="5"                 results to show, at most 20

   Everything is put in as text, so no page that is found can bring in HTML. */
(function () {
  "use strict";
  var script = document.currentScript;
  if (!script) return;
  var base = script.src.replace(/\/static\/embed\.js.*$/, "");
  var data = script.dataset;
  var limit = Math.max(1, Math.min(20, parseInt(data.limit, 10) || 5));
  var running = null;

  function element(name, attributes, text) {
    var one = document.createElement(name);
    Object.keys(attributes || {}).forEach(function (key) { one.setAttribute(key, attributes[key]); });
    if (text) one.textContent = text;
    return one;
  }

  function marked(parent, text) {
    var characters = Array.from(text.text), at = 0;  // spans count characters, not halves of them
    text.spans.forEach(function (span) {
      parent.append(characters.slice(at, span[0]).join(""));
      parent.append(element("mark", {}, characters.slice(span[0], span[1]).join("")));
      at = span[1];
    });
    parent.append(characters.slice(at).join(""));
    return parent;
  }

  function query(words) {
    return data.site && !/\bOR\b/.test(words) ? words + " site:" + data.site
      : data.site ? "(" + words + ") site:" + data.site : words;
  }

  function address(path, values) {
    return base + path + "?" + new URLSearchParams(values);
  }

  function shown(one) {
    var item = element("li", { "class": "crawlctl-result" });
    if (/^https?:\/\//.test(one.url)) {
      var link = element("a", { href: one.section ? one.section.url : one.url, rel: "noopener nofollow" });
      item.append(marked(link, one.title.text ? one.title : { text: one.url, spans: [] }));
    } else {
      item.append(marked(element("span"), one.title));
    }
    item.append(marked(element("p"), one.snippet));
    return item;
  }

  function box(target) {
    var form = element("form", { action: base + "/search", role: "search", "class": "crawlctl-search" });
    var input = element("input", {
      type: "search", name: "q", maxlength: "400", autocomplete: "off",
      placeholder: data.placeholder || "Search", "aria-label": data.placeholder || "Search"
    });
    var button = element("button", { type: "submit" }, "Search");
    var status = element("p", { role: "status", "class": "crawlctl-status" });
    var list = element("ol", { "class": "crawlctl-results" });
    form.append(input, button);
    target.append(form, status, list);

    function leave(words) {
      location.assign(address("/search", { q: query(words) }));
    }

    function answered(found, words) {
      list.replaceChildren.apply(list, found.results.map(shown));
      var all = found.total + found.partial;
      status.textContent = all ? all + (all === 1 ? " page " : " pages ") : "Nothing found. ";
      if (all > found.results.length) {
        status.append(element("a", { href: address("/search", { q: query(words), all: 1 }) }, "Show all"));
      }
    }

    form.addEventListener("submit", function (event) {
      event.preventDefault();
      var words = input.value.trim();
      if (!words) return;
      if (running) running.abort();
      var own = running = new AbortController();
      status.textContent = "…";
      fetch(address("/api/search", { q: query(words), limit: limit }), {
        signal: own.signal, credentials: "omit", referrerPolicy: "no-referrer"
      }).then(function (response) {
        return response.json().then(function (answer) {
          if (response.ok) answered(answer, words);
          else { list.replaceChildren(); status.textContent = answer.detail || "The search has failed."; }
        });
      }).catch(function () {
        if (!own.signal.aborted) leave(words);  // the server does not allow this page to read answers
      });
    });
  }

  function start() {
    var target = data.target && document.querySelector(data.target);
    if (!target) {
      target = element("div");
      if (script.parentNode && document.body.contains(script)) script.after(target);
      else document.body.append(target);
    }
    box(target);
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
