(function look() {
  setTimeout(function () {
    fetch(location.pathname + "/state", { cache: "no-store" })
      .then(function (reply) { return reply.json(); })
      .then(function (said) { said.txnStatus === document.body.dataset.status ? look() : location.reload(); })
      .catch(look);
  }, 3000);
})();
