/* Kasuwa checkout, edition 1. Shows the page on which a payer pays inside a page of yours. See /docs/guides/embed-the-checkout.html
 *
 *   Kasuwa.checkout({ access_code: "…", onSuccess: function (paid) { tell your server paid.reference; it verifies } });
 *
 * This file never changes: another edition has another name. It keeps nothing, sets no cookie and knows no secret.
 */
(function () {
  "use strict";

  var PROTOCOL = 1;
  // A page that may be framed answers as soon as it is loaded. One that does not answer is opened by a redirect.
  var ANSWER_MS = 3000, LOAD_MS = 30000;
  var OPTIONS = ["access_code", "url", "element", "onSuccess", "onClose", "onError"];
  var CODE = /^[0-9a-f]{48}$/;
  var NOTICE = /^[a-z_]{1,40}$/;
  var PAGE = /^\/pay\/(?:(?:checkout|invoice)\/[0-9a-f]{48}|link\/[a-z0-9-]{3,60})$/;
  // The page may not lead the window around it elsewhere. Banks and vendors open in a window of their own.
  var SANDBOX = "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox" +
    " allow-downloads allow-modals";

  var script = document.currentScript, home = "", overlay = null;
  // The check of its type keeps an element that is named currentScript from standing for it.
  if (script instanceof HTMLScriptElement && /^https?:/.test(script.src)) home = new URL(script.src).origin;

  function make(name, style) {
    var made = document.createElement(name);
    made.style.cssText = style;
    return made;
  }

  function makeNonce() {
    var bytes = crypto.getRandomValues(new Uint8Array(16));
    return [].map.call(bytes, function (byte) { return (byte + 256).toString(16).slice(1); }).join("");
  }

  /** Returns the address of a payer's page of this service, or "" if the options name none. */
  function findAddress(options) {
    var code = options.access_code, url;
    if ((code === undefined) === (options.url === undefined)) return "";
    if (code !== undefined) return typeof code === "string" && CODE.test(code) ? home + "/pay/checkout/" + code : "";
    try { url = new URL(String(options.url)); } catch (error) { return ""; }
    return url.origin === home && PAGE.test(url.pathname) ? home + url.pathname : "";
  }

  function findElement(wanted) {
    if (typeof wanted === "string") wanted = document.querySelector(wanted);
    return wanted instanceof HTMLElement ? wanted : null;
  }

  function findFault(options, address) {
    var unknown = Object.keys(options).filter(function (name) { return OPTIONS.indexOf(name) < 0; });
    if (!home) return ["not_loaded", "load kasuwa.js by a script element with its address at the service"];
    if (unknown.length) return ["option_unknown", "there is no option " + unknown[0]];
    if (!address) return ["address_invalid", "give either the access_code of a checkout or the url of a page of " + home];
    if (options.element !== undefined && !findElement(options.element)) return ["element_missing", "there is no such element"];
    if (!options.element && overlay) return ["already_open", "close the checkout that is open first"];
    return null;
  }

  function report(options, fault) {
    if (typeof options.onError !== "function") return false;
    options.onError({ code: fault[0], message: fault[1] });
    return true;
  }

  function makeFrame(address) {
    var frame = make("iframe", "display:block;width:100%;height:100%;border:0;background:transparent;color-scheme:auto");
    frame.title = "Payment";
    frame.setAttribute("sandbox", SANDBOX);
    frame.setAttribute("allow", "clipboard-write");
    frame.referrerPolicy = "no-referrer";
    frame.src = address;
    return frame;
  }

  /** Puts the frame into a modal dialog above the page. Returns it; `close` is what its button and Escape do. */
  function makeOverlay(frame, close) {
    var dialog = make("dialog", "position:fixed;inset:0;box-sizing:border-box;width:100%;height:100%;max-width:none;max-height:none;" +
      "margin:0;padding:0;border:0;background:rgba(0,0,0,.6);overflow:hidden");
    var panel = make("div", "position:relative;box-sizing:border-box;width:30rem;max-width:100%;height:100%;max-height:52rem;" +
      "margin:0 auto;padding-top:44px;background:Canvas;color:CanvasText;font:16px/1.5 system-ui,sans-serif");
    var leave = make("button", "position:absolute;top:0;right:0;width:44px;height:44px;padding:0;border:0;background:none;" +
      "color:inherit;font:24px/44px system-ui,sans-serif;cursor:pointer");
    var status = make("p", "position:absolute;top:0;left:16px;margin:0;line-height:44px");
    dialog.setAttribute("aria-modal", "true");
    dialog.setAttribute("aria-label", "Payment");
    leave.type = "button";
    leave.textContent = "\u00d7";
    leave.setAttribute("aria-label", "Close payment");
    leave.addEventListener("click", close);
    status.setAttribute("role", "status");
    status.textContent = "Opening the payment page";
    dialog.addEventListener("cancel", function (event) { event.preventDefault(); close(); });
    dialog.addEventListener("close", close);
    panel.appendChild(leave);
    panel.appendChild(status);
    panel.appendChild(frame);
    dialog.appendChild(panel);
    dialog.status = status;
    return dialog;
  }

  function open(options, address) {
    var place = findElement(options.element), nonce = makeNonce(), frame = makeFrame(address);
    var focused = document.activeElement, root = document.documentElement, scrolling = root.style.overflow;
    var isReady = false, isPaid = false, isClosed = false, timer = setTimeout(giveUp, LOAD_MS);
    var dialog = place ? null : makeOverlay(frame, close);

    function remove() {
      isClosed = true;
      clearTimeout(timer);
      removeEventListener("message", hear);
      if (!dialog) return frame.remove();
      overlay = null;
      root.style.overflow = scrolling;
      dialog.close();
      dialog.remove();
      if (focused && focused.isConnected) focused.focus();
    }

    function close() {
      if (isClosed) return;
      remove();
      if (typeof options.onClose === "function") options.onClose();
    }

    function giveUp() {
      if (isClosed) return;
      if (isReady) {
        if (dialog) dialog.status.textContent = "The payment page does not answer";
        report(options, ["no_answer", "a page of the payment did not load: close it, and open it again"]);
      } else {
        redirect("not_framed", "the payment page may not be shown here, so the payer is redirected to it");
      }
    }

    function redirect(code, message) {
      remove();
      report(options, [code, message]);
      location.assign(address);
    }

    function greet() {
      frame.contentWindow.postMessage({ kasuwa: PROTOCOL, type: "hello", nonce: nonce }, home);
      clearTimeout(timer);
      timer = setTimeout(giveUp, ANSWER_MS);
    }

    function hear(event) {
      var said = event.data;
      if (event.origin !== home || event.source !== frame.contentWindow) return;
      if (!said || said.kasuwa !== PROTOCOL || said.nonce !== nonce) return;
      if (said.type === "ready") {
        clearTimeout(timer);
        if (dialog) dialog.status.textContent = "";
        if (dialog && !isReady) frame.focus();
        isReady = true;
      } else if (said.type === "notice" && typeof said.code === "string" && NOTICE.test(said.code)) {
        report(options, [said.code, "the payment page shows a notice"]);
      } else if (said.type === "blocked") {
        redirect("window_blocked", "the browser opens no window for the page of a bank, so the payer is redirected");
      } else if (said.type === "paid" && !isPaid && typeof said.reference === "string") {
        isPaid = true;
        if (typeof options.onSuccess === "function") options.onSuccess({ reference: said.reference });
      } else if (said.type === "close" || (said.type === "escape" && dialog)) {
        close();
      } else if (said.type === "size" && place && said.height > 0) {
        frame.style.height = Math.min(Math.max(said.height, 240), 6000) + "px";
      }
    }

    addEventListener("message", hear);
    frame.addEventListener("load", greet);
    if (place) {
      frame.style.height = "600px";
      place.appendChild(frame);
    } else {
      overlay = dialog;
      root.style.overflow = "hidden";
      document.body.appendChild(dialog);
      dialog.showModal();
    }
    return Object.freeze({ close: close });
  }

  /**
   * Opens a payer's page in an overlay, or in `element`. Returns an object with `close`, or null if it was not opened.
   *
   * access_code  of a checkout; or `url`, the address of a checkout, a link or an invoice
   * onSuccess    called once with { reference } when the page says that it was paid: verify it on your server
   * onClose      called once when the page was closed, paid or not
   * onError      called with { code, message }: the options are wrong, or the page shows a notice, such as that the
   *              service is busy. Without it, options that are wrong raise a TypeError
   */
  function checkout(options) {
    var address = findAddress(options = options || {}), fault = findFault(options, address);
    if (fault) {
      if (!report(options, fault)) throw new TypeError("Kasuwa: " + fault[1]);
      return null;
    }
    if (window.crypto && (options.element || window.HTMLDialogElement)) return open(options, address);
    location.assign(address);
    return null;
  }

  window.Kasuwa = Object.freeze({ edition: 1, checkout: checkout });
})();
