// The desk's service worker: it shows notifications and opens the question, and does nothing else. It answers no
// request, keeps no page and knows no token. A message brings an id; what it is about is read on the page, by
// somebody who is logged in. Nothing is decided in a notification: its button only opens the page.

const ID = /^ap_[0-9a-f]{6,40}$/;
const TITLE = "Handrail asks you to decide";
const WORDS = "An agent waits for your yes or no.";
const PAGE = "/approve";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("push", (event) => {
  const told = event.data?.text() ?? "";
  const id = ID.test(told) ? told : null;
  event.waitUntil(self.registration.showNotification(TITLE, {
    body: WORDS, tag: id ?? "handrail", data: { id }, icon: "/static/icon-192.png", badge: "/static/icon-192.png",
    requireInteraction: true, actions: [{ action: "look", title: "Look at it" }],
  }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(look(event.notification.data?.id ?? null));
});

/** On a page for questions that is open already, else on a new one. */
async function look(id) {
  const open = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = open.find((one) => new URL(one.url).pathname === PAGE);
  if (!page) return self.clients.openWindow(id ? `${PAGE}#id=${id}` : PAGE);
  page.postMessage({ handrail: "look", id });
  return page.focus().catch(() => null); // a browser may say no; the page shows it all the same
}
