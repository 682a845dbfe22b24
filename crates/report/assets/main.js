// Starts the parts.

readAddress();
setUpTheme(() => showDrilldown());
setUpDrilldown();
setUpLive();
setUpCopying();
matrices.forEach(setUpLinks);
matrices.forEach(setUpKeys);
byId("controls").hidden = false;
byId("controls").addEventListener("change", (event) => {
  change({ [event.target.name]: event.target.value });
  showMatrices();
});
byId("controls").addEventListener("submit", (event) => event.preventDefault());
byId("csv").hidden = false;
byId("csv").addEventListener("click", downloadAll);
addEventListener("hashchange", () => {
  readAddress();
  showMatrices();
  showDrilldown();
});
addEventListener("resize", () => sheet.open && showDrilldown());
showMatrices()
  .then(showHints)
  .then(showDrilldown)
  .then(() => document.documentElement.setAttribute("data-ready", Math.round(performance.now())));
