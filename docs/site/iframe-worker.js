// A page that was opened as a file may start no worker. The search's worker then runs in a hidden frame instead.
// As with a worker, messages are copies and arrive later: both sides change what they are given.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.document.open();
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data: structuredClone(data) });
        setTimeout(() => {
          this.onmessage?.(event);
          this.dispatchEvent(event);
        });
      };
      // Only from here on: an empty frame is loaded as soon as it is there.
      this.ready = new Promise((resolve) => (this.frame.onload = resolve));
      inside.document.write(`<script src="${new URL(address, location.href)}"></` + "script>");
      inside.document.close();
    }
    async postMessage(data) {
      const copy = structuredClone(data);
      await this.ready;
      this.frame.contentWindow?.dispatchEvent(new MessageEvent("message", { data: copy }));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
