(function () {
  var body = document.body, origins = body.dataset.origins, notice = body.dataset.notice;
  var framed = window.parent !== window, shop, FOCUS_MS = 500;
  var all = function (selector) { return [].slice.call(document.querySelectorAll(selector)); };
  if (!framed) return;

  // A page of a bank or vendor may refuse to be framed: it opens in a window of its own, and this one waits.
  all("form").forEach(function (form) {
    var mark = document.createElement("input");
    mark.type = "hidden"; mark.name = "framed"; mark.value = "yes";
    form.appendChild(mark);
  });
  all("a[data-outside]").forEach(function (link) {
    link.target = "_blank"; link.rel = "noopener noreferrer";
    link.addEventListener("click", function (event) {
      if (!shop) return;
      event.preventDefault();
      // With noopener the browser does not say whether there is a window, so the opener is taken away afterwards.
      var opened = window.open(link.href, "_blank");
      if (opened) opened.opener = null; else tellIfBlocked();
    });
  });
  if (!origins && !notice) return;

  function tell(type, name, value) {
    var said = { kasuwa: 1, nonce: shop.nonce, type: type };
    if (name) said[name] = value;
    window.parent.postMessage(said, shop.origin);
  }
  // In the page of a shop that isolates itself (Cross-Origin-Opener-Policy) the browser opens the window and does not
  // say so: where there is one, this page loses the focus.
  function tellIfBlocked() {
    var began = Date.now(), hasLeft = false;
    function leave() { hasLeft = true; }
    addEventListener("blur", leave);
    document.addEventListener("visibilitychange", leave);
    setTimeout(function () {
      removeEventListener("blur", leave);
      document.removeEventListener("visibilitychange", leave);
      // Later, the payer is back from a window for which this page was stopped.
      if (!hasLeft && document.hasFocus() && Date.now() - began < 4 * FOCUS_MS) tell("blocked");
    }, FOCUS_MS);
  }
  function measure() {
    tell("size", "height", Math.ceil(document.querySelector("main").getBoundingClientRect().bottom + scrollY + 16));
  }

  // A notice belongs to no merchant, so that it has no list: it tells its code and its height to any site.
  function mayHear(origin) {
    return origins ? origins.split(" ").indexOf(origin) >= 0 : /^https?:\/\//.test(origin);
  }

  addEventListener("message", function (event) {
    var hello = event.data;
    if (shop || event.source !== window.parent || !mayHear(event.origin)) return;
    if (!hello || hello.kasuwa !== 1 || hello.type !== "hello" || !/^[0-9a-f]{32}$/.test(hello.nonce)) return;
    shop = { origin: event.origin, nonce: hello.nonce };
    tell("ready");
    if (notice) tell("notice", "code", notice);
    if (body.dataset.paid) tell("paid", "reference", body.dataset.paid);
    if (window.ResizeObserver) new ResizeObserver(measure).observe(document.querySelector("main")); else measure();
  });
  addEventListener("keydown", function (event) {
    if (shop && event.key === "Escape" && !event.defaultPrevented) tell("escape");
  });
  all("a[data-leave]").forEach(function (link) {
    link.addEventListener("click", function (event) {
      if (!shop) return;
      event.preventDefault();
      tell("close");
    });
  });
})();
