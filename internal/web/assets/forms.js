// Sends forms without leaving the page and shows the result beside the button.

export function forms(refresh) {
  document.addEventListener("submit", async (e) => {
    const form = e.target;
    if (!form.matches("[data-act], [data-login]")) return;
    e.preventDefault();
    const outcome = form.querySelector(".outcome");
    const button = form.querySelector("button[type=submit]");
    button.disabled = true;
    tell(outcome, "", "…");
    try {
      const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), headers: { Accept: "application/json" } });
      const said = await answer.json();
      if (!answer.ok) {
        tell(outcome, "bad", said.error + (said.hint ? " — " + said.hint : ""));
        if (answer.status === 409) await refresh();
        return;
      }
      if (form.matches("[data-login]")) { location.assign(form.elements.to.value); return; }
      const done = said.result && said.reason ? form.dataset.act + ": " + said.reason : form.dataset.act;
      tell(outcome, "good", done);
      notify(done + (said.commit ? " in " + said.commit.slice(0, 7) : ""));
      form.reset();
      fold(form.closest("details"));
      await refresh();
    } catch (err) {
      tell(outcome, "bad", "No answer from the server: " + err.message);
    } finally {
      button.disabled = false;
    }
  });
}

// fold closes the details of a form that was sent, and keeps the focus there.
function fold(details) {
  if (!details) return;
  details.open = false;
  details.querySelector("summary").focus();
}

function tell(where, tone, text) {
  if (!where) return;
  where.className = "outcome " + tone;
  where.textContent = text;
}

// notify shows a message that stays when the form disappears.
function notify(text) {
  document.querySelectorAll(".toast").forEach((t) => t.remove());
  const toast = document.createElement("div");
  toast.className = "toast";
  toast.setAttribute("role", "status");
  toast.textContent = text;
  document.documentElement.append(toast);
  setTimeout(() => toast.remove(), 6000);
}

// login exchanges the token in the address for a cookie and removes it from the address.
// The sign-in page then opens the page that the user asked for.
export async function login() {
  const form = document.querySelector("[data-login]");
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) {
    // A browser sends no cookie when the user follows a link on another site. The cookie
    // may be there nevertheless.
    if (form && await signedIn(form.elements.to.value)) location.replace(form.elements.to.value);
    return false;
  }
  history.replaceState(null, "", location.pathname + location.search);
  const answer = await fetch("/api/login", { method: "POST", headers: { "Content-Type": "application/json", Accept: "application/json" }, body: JSON.stringify({ token }) });
  if (!answer.ok) { notify("The token in the address is not valid. Run ken serve, and open the address that it prints."); return false; }
  if (form) { location.replace(form.elements.to.value); return false; }
  return true;
}

async function signedIn(page) {
  const answer = await fetch(page, { method: "HEAD", headers: { Accept: "text/html" } });
  return answer.ok && !answer.redirected;
}
