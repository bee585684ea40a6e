// One JS context of an app: timers, requests, console and React's DevTools hook, and the only way into it.
// It never calls the phone: what it wants done lies in a box that the phone empties after every visit. So a
// visit may have a time limit, and no script can hold up the phone.
(function (seed, measureMs, frameMs, prelude) {
  'use strict';
  const { stringify, parse } = JSON;
  const evaluate = globalThis.eval;
  const Later = Promise;
  const { then } = Promise.prototype;
  const apply = Reflect.apply;
  const box = [];
  const timers = Object.create(null);
  const requests = Object.create(null);
  const awaited = Object.create(null);
  let count = 0;
  let now = 0;
  let wall = 0;
  let screen = 'null';

  function ask(what) {
    if (box.length >= 10000) { throw new RangeError('too much is asked for in one visit'); }
    box[box.length] = what;
  }

  // what scripts say

  function said(value) {
    try {
      return value instanceof Error ? `${value}\n${value.stack}` : String(value);
    } catch {
      return '[object]';
    }
  }

  function log(level, values) { ask(['log', level, values.map(said).join(' ')]); }

  function quietly(run, self, given) {
    try { apply(run, self, given); } catch (error) { log('E', [error]); }
  }

  // time

  function after(run, delay, given, again) {
    const number = count += 1;
    const wait = Math.max(1, Number(delay) || 0);
    timers[number] = { run, given, again };
    ask(['timer', number, wait, again]);
    return number;
  }

  function cancel(number) {
    if (timers[number]) {
      delete timers[number];
      ask(['clear', number]);
    }
  }

  const Time = Date;
  function PhoneDate(...given) {
    if (!new.target) { return new Time(wall).toString(); }
    return Reflect.construct(Time, given.length ? given : [wall], new.target);
  }
  Object.defineProperty(PhoneDate, 'name', { value: 'Date' });
  PhoneDate.prototype = Time.prototype;
  PhoneDate.prototype.constructor = PhoneDate;
  Object.assign(PhoneDate, { now: () => wall, UTC: Time.UTC, parse: Time.parse });

  let drawn = seed >>> 0;
  Math.random = function random() {
    drawn = (Math.imul(drawn, 1664525) + 1013904223) >>> 0;
    return drawn / 4294967296;
  };

  // React

  const FUNCTION = 0, ROOT = 3, HOST = 5, FORWARD_REF = 11; // React's tags of fibers
  const types = Object.create(null);

  function typeOf(name, tag) {
    if (!types[name]) {
      const render = Object.defineProperty(function () { return null; }, 'name', { value: name });
      types[name] = tag === FORWARD_REF ? { render, displayName: name } : render;
    }
    return types[name];
  }

  function fiber(tag, type, props, node, children) {
    const made = {
      tag, key: null, type, elementType: type, stateNode: node, memoizedProps: props, memoizedState: null,
      child: children[0] || null, sibling: null, return: null, _debugOwner: null,
    };
    children.forEach(function (child, at) {
      child.return = made;
      child.sibling = children[at + 1] || null;
    });
    return made;
  }

  function instance(view) {
    return {
      _nativeTag: view.tag,
      canonical: null,
      measureInWindow(callback) { after(callback, measureMs, view.box, false); },
    };
  }

  function fibersOf(view) {
    const host = fiber(HOST, view.host, view.props, instance(view), view.children.map(fibersOf));
    const inner = fiber(FORWARD_REF, typeOf(view.native, FORWARD_REF), {}, null, [host]);
    if (!view.component) { return inner; }
    return fiber(FUNCTION, typeOf(view.component, FUNCTION), view.given, null, [inner]);
  }

  const root = {
    tag: 1,
    get current() {
      const view = parse(screen);
      return fiber(ROOT, null, {}, null, view ? [fibersOf(view)] : []);
    },
  };
  const roots = new Set([root]);
  const nothing = new Set();

  // what scripts find

  Object.assign(globalThis, {
    window: globalThis,
    global: globalThis,
    HermesInternal: {},
    __DEV__: true,
    Date: PhoneDate,
    performance: { now: () => now },
    console: {
      log(...given) { log('I', given); },
      info(...given) { log('I', given); },
      debug(...given) { log('D', given); },
      warn(...given) { log('W', given); },
      error(...given) { log('E', given); },
    },
    setTimeout(run, delay, ...given) { return after(run, delay, given, false); },
    setInterval(run, delay, ...given) { return after(run, delay, given, true); },
    setImmediate(run, ...given) { return after(run, 0, given, false); },
    requestAnimationFrame(run) { return after(run, frameMs, [now], false); },
    clearTimeout(number) { cancel(number); },
    clearInterval(number) { cancel(number); },
    clearImmediate(number) { cancel(number); },
    cancelAnimationFrame(number) { cancel(number); },
    __REACT_DEVTOOLS_GLOBAL_HOOK__: {
      supportsFiber: true,
      renderers: new Map([[1, { version: '18.2.0', rendererPackageName: 'react-native-renderer' }]]),
      getFiberRoots(number) { return number === 1 ? roots : nothing; },
      onCommitFiberRoot() {},
      onCommitFiberUnmount() {},
      inject() { return 1; },
    },
  });
  evaluate(prelude)({
    request(_method, url, callback) {
      const number = count += 1;
      requests[number] = callback;
      ask(['request', number, String(url)]);
    },
  });

  // what debuggers get: values as CDP's RemoteObject

  function remote(value, byValue) {
    const type = typeof value;
    if (value === undefined) { return { type }; }
    if (value === null) { return { type, subtype: 'null', value }; }
    if (type === 'symbol') { return { type, description: String(value) }; }
    if (type === 'bigint' || (type === 'number' && (!Number.isFinite(value) || Object.is(value, -0)))) {
      const text = type === 'bigint' ? `${value}n` : Object.is(value, -0) ? '-0' : String(value);
      return { type, unserializableValue: text, description: text };
    }
    if (type !== 'object' && type !== 'function') { return { type, value }; }
    if (byValue) {
      const plain = stringify(value);
      return { type, value: plain === undefined ? {} : parse(plain) };
    }
    const name = type === 'function' ? 'Function' : said(value.constructor && value.constructor.name || 'Object');
    const kind = Array.isArray(value) ? { subtype: 'array' } : {};
    return { type, ...kind, className: name, description: name, objectId: String(count += 1) };
  }

  function failed(error) {
    const shown = remote(error, false);
    if (error instanceof Error) { Object.assign(shown, { subtype: 'error', description: said(error) }); }
    const details = { exceptionId: 1, text: 'Uncaught', lineNumber: 0, columnNumber: 0, exception: shown };
    return { result: shown, exceptionDetails: details };
  }

  function told(value, byValue) {
    try { return { result: remote(value, byValue) }; } catch (error) { return failed(error); }
  }

  const visits = {
    run(source, byValue, wait) {
      let value;
      try { value = evaluate(source); } catch (error) { return failed(error); }
      if (!wait || !(value instanceof Later)) { return told(value, byValue); }
      const number = count += 1;
      awaited[number] = null;
      apply(then, value, [
        function (result) { awaited[number] = told(result, byValue); },
        function (error) { awaited[number] = failed(error); },
      ]);
      return { awaited: number };
    },
    settled(number) {
      const answer = awaited[number];
      if (answer) { delete awaited[number]; }
      return answer;
    },
    fire(number) {
      const timer = timers[number];
      if (!timer) { return; }
      if (!timer.again) { delete timers[number]; }
      quietly(timer.run, undefined, timer.given);
    },
    fetch(url) { quietly(globalThis.fetch, undefined, [url]); },
    respond(number, status, text) {
      const callback = requests[number];
      delete requests[number];
      if (callback) { quietly(callback, undefined, [status, text]); }
    },
    show(tree) { screen = tree; },
    empty() { return box.splice(0); },
  };

  return function enter(visit, nowMs, wallMs, ...given) {
    now = nowMs;
    wall = wallMs;
    return stringify(visits[visit](...given));
  };
})
