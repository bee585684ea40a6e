// The state as the server tells it. Browsers run no reducer: a frame's `changes` are laid over what is here.

const EMPTY = {
  activeMonitor: "monitor-0", monitors: [], windows: {}, notifications: [], toasts: [], dialogs: [],
  badges: {}, shortcuts: [], appsRev: 0, approvals: [],
};

export class Store {
  #watchers = new Set();

  constructor() {
    this.state = structuredClone(EMPTY);
  }

  /** Everything anew: `changed.windows` holds every key that was or is there. */
  replace(state) {
    const keys = new Set([...Object.keys(this.state.windows), ...Object.keys(state.windows ?? {})]);
    this.state = { ...structuredClone(EMPTY), ...state };
    this.#tell({ all: true, windows: keys, fields: new Set(Object.keys(this.state)) });
  }

  /** A partial state: windows by key with the fields that changed (null: gone), everything else whole. */
  apply(changes) {
    const keys = new Set();
    for (const [field, value] of Object.entries(changes)) {
      if (field === "windows") this.#windows(value, keys);
      else this.state[field] = value;
    }
    this.#tell({ all: false, windows: keys, fields: new Set(Object.keys(changes)) });
  }

  #windows(changed, keys) {
    const windows = this.state.windows;
    for (const [key, fields] of Object.entries(changed)) {
      keys.add(key);
      if (fields === null) delete windows[key];
      else windows[key] = { ...windows[key], ...fields };
    }
  }

  /** `watcher(state, changed)` after each change; the answer ends it. */
  watch(watcher) {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #tell(changed) {
    for (const watcher of [...this.#watchers]) watcher(this.state, changed);
  }
}
