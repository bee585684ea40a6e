// A small React Native in Node: real React, a renderer of its own, React's own DevTools hook, requests and
// timers of the real platform. Started by the tests with `node --inspect=0`; `lab` is what they drive.
'use strict';
globalThis.window = globalThis.self = globalThis;
const natives = {
  fetch: globalThis.fetch, setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout,
  clearInterval: globalThis.clearInterval,
};
require('react-devtools-core').initialize();
globalThis.XMLHttpRequest = require('xhr2');
natives.open = XMLHttpRequest.prototype.open;
natives.send = XMLHttpRequest.prototype.send;

const fs = require('node:fs');
const util = require('node:util');
const React = require('react');
const Reconciler = require('react-reconciler');
const { ConcurrentRoot, DefaultEventPriority, NoEventPriority } = require('react-reconciler/constants');

// A native view: it knows its box in dp and tells it later, as a UI thread does.
function view(type, props) {
  const box = props.box || [0, 0, 0, 0];
  return { type, measureInWindow(told) { setImmediate(() => told(...box)); } };
}

let priority = NoEventPriority;
const nothing = () => {};
const renderer = Reconciler({
  rendererPackageName: 'lab', rendererVersion: '1', extraDevToolsConfig: null,
  supportsMutation: true, supportsPersistence: false, supportsHydration: false, isPrimaryRenderer: true,
  noTimeout: -1, scheduleTimeout: natives.setTimeout, cancelTimeout: natives.clearTimeout,
  supportsMicrotasks: true, scheduleMicrotask: queueMicrotask,
  createInstance: view, createTextInstance: (text) => ({ text }), appendInitialChild: nothing,
  finalizeInitialChildren: () => false, shouldSetTextContent: (type) => type === 'RCTText',
  getRootHostContext: () => ({}), getChildHostContext: (context) => context, getPublicInstance: (one) => one,
  prepareForCommit: () => null, resetAfterCommit: nothing, preparePortalMount: nothing,
  appendChild: nothing, appendChildToContainer: nothing, insertBefore: nothing,
  insertInContainerBefore: nothing, removeChild: nothing, removeChildFromContainer: nothing,
  commitUpdate: nothing, commitTextUpdate: nothing, commitMount: nothing, clearContainer: nothing,
  hideInstance: nothing, unhideInstance: nothing, hideTextInstance: nothing, unhideTextInstance: nothing,
  detachDeletedInstance: nothing, resetTextContent: nothing, getInstanceFromNode: () => null,
  beforeActiveInstanceBlur: nothing, afterActiveInstanceBlur: nothing, prepareScopeUpdate: nothing,
  getInstanceFromScope: () => null, setCurrentUpdatePriority: (next) => { priority = next; },
  getCurrentUpdatePriority: () => priority, resolveUpdatePriority: () => priority || DefaultEventPriority,
  trackSchedulerEvent: nothing, resolveEventType: () => null, resolveEventTimeStamp: () => -1.1,
  shouldAttemptEagerTransition: () => false, requestPostPaintCallback: nothing, maySuspendCommit: () => false,
  preloadInstance: () => true, startSuspendingCommit: nothing, suspendInstance: nothing,
  waitForCommitToBeReady: () => null, NotPendingTransition: null, resetFormInstance: nothing,
  HostTransitionContext: React.createContext(null),
});

renderer.injectIntoDevTools();

const h = React.createElement;
const View = React.forwardRef(function View(props, ref) { return h('RCTView', { ...props, ref }); });
const Text = (props) => h('RCTText', props);
const Pressable = React.memo(React.forwardRef(function Pressable(props, ref) { return h(View, { ...props, ref }); }));
const Svg = (props) => h('RNSVGSvgView', props, h('RNSVGPath', { box: props.box }));
const icon = (name) => Object.assign(React.forwardRef((props, ref) => h(Svg, { ...props, ref })), { displayName: name });
const ArrowLeft = icon('ArrowLeft');
const Settings = React.memo(icon('Settings'));
const Icon = (props) => h(Text, { box: props.box, children: '\ue900' });
const SendButton = (props) => h(Pressable, { box: props.box }, h(Icon, { name: 'x', box: props.inner }));

// dp; the window begins below a status bar of 24 dp, which measurements do not count.
function HomeScreen() {
  return h(View, { box: [0, 0, 360, 616] },
    h(Text, { box: [80, 16, 200, 24] }, 'Inbox'),
    h(Pressable, { box: [0, 4, 48, 48] }, h(ArrowLeft, { box: [12, 16, 24, 24] })),
    h(Pressable, { box: [312, 4, 48, 48] }, h(Settings, { box: [324, 16, 24, 24] })),
    h(Pressable, { box: [0, 100, 360, 56] }, h(Icon, { name: 'trash', box: [16, 116, 24, 24] })),
    h(SendButton, { box: [296, 540, 48, 48], inner: [308, 552, 24, 24] }),
    h(Pressable, { box: [16, 540, 200, 48], testID: 'attach' }, h(ArrowLeft, { box: [20, 544, 24, 24] })),
    h(View, { box: [0, 0, 360, 616], importantForAccessibility: 'no-hide-descendants' },
      h(Pressable, { box: [0, 100, 360, 56] }, h(icon('Covered'), { box: [0, 100, 360, 56] }))));
}

const lab = globalThis.lab = {
  natives, util, loaded: [], unhandled: [], ticks: 0, React,
  show(element) {
    lab.root = lab.root || renderer.createContainer(
      {}, ConcurrentRoot, null, false, null, 'lab', nothing, nothing, nothing, nothing);
    renderer.updateContainerSync(element, lab.root, null, null);
    renderer.flushSyncWork();
  },
  load(url) { fetch(url).then((answer) => answer.text()).then((text) => lab.loaded.push(text)); },
  ask(url) {
    const request = new XMLHttpRequest();
    request.onload = () => lab.loaded.push(request.responseText);
    request.open('POST', url);
    request.send('x');
  },
  // The thread answers nobody from when the file is there until somebody removes it.
  hog(path) { setImmediate(() => { fs.writeFileSync(path, ''); while (fs.existsSync(path)); }); },
  async loop(ms) { while (lab.ticks >= 0) { await new Promise((resume) => setTimeout(resume, ms)); lab.ticks += 1; } },
  shape(name, holder) {
    const found = Object.getOwnPropertyDescriptor(holder || globalThis, name);
    const is = found.value;
    return JSON.stringify([is.name, is.length, String(is), `${is}`, found.enumerable, found.configurable]);
  },
};
process.on('unhandledRejection', (reason) => lab.unhandled.push(String(reason)));
lab.show(h(HomeScreen));
lab.ready = true;
natives.setTimeout(nothing, 2 ** 30);  // keeps the program alive until it is ended
