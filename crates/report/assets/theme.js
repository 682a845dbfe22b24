// Light or dark: the system's setting until the reader chooses.

function setUpTheme(whenChanged) {
  const button = byId("theme");
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () =>
    (document.documentElement.dataset.theme ?? (prefersDark.matches ? "dark" : "light")) === "dark";
  button.hidden = false;
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    whenChanged();
  });
  prefersDark.addEventListener("change", whenChanged);
}

// The colour of a system, the same in all charts.
function colourOf(system) {
  return colour(`s${Math.max(0, model.systems.indexOf(system)) % 8}`);
}

// The current value of a colour of the style sheet, for a canvas.
function colour(name) {
  const probe = make("span", { hidden: true });
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}
