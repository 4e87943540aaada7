(function () {
  var body = document.body, all = function (selector) { return [].slice.call(document.querySelectorAll(selector)); };
  var one = function (selector) { return document.querySelector(selector); };

  function poll() {
    setTimeout(function () {
      fetch(body.dataset.address + "/state", { cache: "no-store" })
        .then(function (reply) { return reply.json(); })
        .then(function (page) { page.state === body.dataset.state ? poll() : location.replace(body.dataset.address); })
        .catch(poll);
    }, 3000);
  }
  if (body.dataset.polls) poll();

  var end = Date.now() + 1000 * Number(body.dataset.left || 0), timer = one("[data-timer]");
  function count() {
    var left = Math.max(0, Math.round((end - Date.now()) / 1000)), rest = left % 60;
    one("[data-clock]").textContent = Math.floor(left / 60) + ":" + (rest < 10 ? "0" : "") + rest;
    if (left) setTimeout(count, 1000); else location.replace(body.dataset.address);
  }
  if (timer && Number(body.dataset.left)) { timer.hidden = false; count(); }

  all("[data-copy]").forEach(function (button) {
    button.hidden = false;
    button.addEventListener("click", function () {
      var place = document.getElementById(button.dataset.copy);
      var done = function () { button.firstChild.textContent = "Copied"; };
      var choose = function () { getSelection().selectAllChildren(place); };
      if (navigator.clipboard) navigator.clipboard.writeText(place.textContent).then(done, choose); else choose();
    });
  });

  all("form[data-once]").forEach(function (form) {
    form.addEventListener("submit", function (event) {
      if (form.dataset.sent) return event.preventDefault();
      form.dataset.sent = "yes";
      form.querySelector("button").setAttribute("aria-disabled", "true");
    });
  });
  addEventListener("pageshow", function () { all("form[data-once]").forEach(function (form) { delete form.dataset.sent; }); });

  var number = one("#number"), expiry = one("#expiry");
  if (number) number.addEventListener("input", function () {
    if (number.selectionStart < number.value.length) return;
    number.value = number.value.replace(/\D/g, "").replace(/(.{4})(?=.)/g, "$1 ");
  });
  if (expiry) expiry.addEventListener("input", function (event) {
    if (event.inputType === "deleteContentBackward" || expiry.selectionStart < expiry.value.length) return;
    if (/^\d{2}$/.test(expiry.value)) expiry.value += "/";
  });

  var wrong = one("[aria-invalid=true]");
  if (wrong) wrong.focus();

  var print = one("[data-print]");
  if (print) { print.hidden = false; print.addEventListener("click", function () { window.print(); }); }
  var back = one("[data-return]"), seconds = 10, leaving;
  function stay() { clearInterval(leaving); back.hidden = true; }
  if (back && window.parent === window) {
    back.hidden = false;
    leaving = setInterval(function () {
      seconds -= 1;
      one("[data-return-clock]").textContent = seconds;
      if (seconds <= 0) { stay(); location.href = one("#return").href; }
    }, 1000);
    one("[data-stay]").addEventListener("click", stay);
    ["keydown", "pointerdown"].forEach(function (name) { addEventListener(name, stay, { once: true }); });
  }
})();
