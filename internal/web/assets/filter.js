// Filters the list of files while the user types. The server filters, because a page has
// only some of the files.
export function filter(refresh) {
  document.addEventListener("input", (e) => {
    const form = e.target.closest("form[data-filter]");
    if (!form) return;
    const url = new URL(form.action);
    for (const [name, value] of new FormData(form)) if (value) url.searchParams.set(name, value);
    history.replaceState(null, "", url);
    refresh();
  });
  document.addEventListener("submit", (e) => { if (e.target.matches("form[data-filter]")) e.preventDefault(); });
}
