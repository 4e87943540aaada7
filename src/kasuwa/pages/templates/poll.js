(function poll() {
  setTimeout(function () {
    fetch(location.pathname + "/state", { cache: "no-store" })
      .then(function (reply) { return reply.json(); })
      .then(function (state) { state.txnStatus === document.body.dataset.status ? poll() : location.reload(); })
      .catch(poll);
  }, 3000);
})();
