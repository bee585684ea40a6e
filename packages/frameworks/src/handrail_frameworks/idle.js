// Counts what a JavaScript program has under way: requests, and timers that are due soon.
// Evaluates to "installed", or to "there" when an earlier visit left it. Takes part in nothing: every
// replaced function has the same name, length and source text, passes `this`, arguments, results and errors
// through, and is put back by remove().
(function (key, version) {
  'use strict';
  var found = globalThis[key];
  if (found && found.version === version) { return 'there'; }
  if (found) { found.remove(); }

  var ENDLESS = 5;        // links of a chain of equal timers that still count as work
  var NEXT_LINK_MS = 8;   // a timer set so soon after an equal one fired continues its chain
  var FORGOTTEN_MS = 1000; // overdue by more: it was cleared in a way that is not seen
  var requests = new Map();
  var timers = new Map();
  var recent = new Map();
  var opened = new WeakMap();
  var undo = [];
  var count = 0;
  var active = true;
  var apply = Reflect.apply;
  var soon = typeof globalThis.setImmediate === 'function' ? globalThis.setImmediate : globalThis.setTimeout;
  var asked = 0;
  var answered = 0;
  var watch = globalThis.performance;
  var now = watch && typeof watch.now === 'function' ? function () { return watch.now(); } : Date.now;

  // Names and lengths cost nothing to keep; custom properties (such as a promisified twin) must be kept.
  function dress(wrapper, original) {
    Reflect.ownKeys(original).forEach(function (name) {
      var has = Object.getOwnPropertyDescriptor(wrapper, name);
      if (!has || has.configurable) {
        Object.defineProperty(wrapper, name, Object.getOwnPropertyDescriptor(original, name));
      }
    });
    Object.defineProperty(wrapper, 'toString', {
      value: function toString() { return Function.prototype.toString.call(original); },
      configurable: true, writable: true, enumerable: false
    });
    return wrapper;
  }

  function replace(holder, name, make) {
    var original = holder[name];
    if (typeof original !== 'function') { return; }
    // Looked at after the read: a property that is made on first use has its lasting shape now.
    var shape = Object.getOwnPropertyDescriptor(holder, name);
    if (shape && !shape.configurable) { return; }
    var wrapper = dress(make(original), original);
    Object.defineProperty(holder, name, {
      value: wrapper, configurable: true,
      writable: shape && 'writable' in shape ? shape.writable : true,
      enumerable: shape ? shape.enumerable : false
    });
    undo.push(function () {
      // Whoever wrapped the wrapper in the meantime keeps it; it only passes through from now on.
      if (holder[name] !== wrapper) { return; }
      if (shape) { Object.defineProperty(holder, name, shape); } else { delete holder[name]; }
    });
  }

  // Where it goes, without what may be secret in it: no query, no user.
  function address(text) {
    return String(text).split(/[?#]/)[0].replace(/\/\/[^\/@]*@/, '//').slice(0, 120);
  }

  function begin(what, method, url, xhr) {
    sweep();
    count += 1;
    requests.set(count, { what: what + ' ' + method + ' ' + address(url), xhr: xhr });
    return count;
  }

  // 4 is done; 0 is aborted.
  function sweep() {
    requests.forEach(function (entry, number) {
      var state = entry.xhr ? entry.xhr.readyState : 1;
      if (state === 4 || state === 0) { requests.delete(number); }
    });
  }

  function describe(input, options) {
    var isObject = input !== null && typeof input === 'object';
    var method = (options && options.method) || (isObject && input.method) || 'GET';
    return [String(method), isObject && typeof input.url === 'string' ? input.url : String(input)];
  }

  function beginFetch(input, options) {
    try {
      var words = describe(input, options);
      return begin('fetch', words[0], words[1], null);
    } catch (error) {
      return begin('fetch', 'GET', '?', null);
    }
  }

  // A promise that is only looked at would count as handled, and a failure that nobody handles would be
  // silent: so the program gets the promise at the end of the look.
  function follow(answer, number) {
    function done() { requests.delete(number); }
    if (!answer || typeof answer.then !== 'function') { done(); return answer; }
    if (Object.getPrototypeOf(answer) !== Promise.prototype) { answer.then(done, done); return answer; }
    return answer.then(
      function (value) { done(); return value; },
      function (error) { done(); throw error; }
    );
  }

  replace(globalThis, 'fetch', function (original) {
    return function fetch(input, options) {
      if (!active) { return apply(original, this, arguments); }
      var number = beginFetch(input, options);
      var answer;
      try {
        answer = apply(original, this, arguments);
      } catch (error) {
        requests.delete(number);
        throw error;
      }
      return follow(answer, number);
    };
  });

  var Xhr = globalThis.XMLHttpRequest;
  if (typeof Xhr === 'function' && Xhr.prototype) {
    replace(Xhr.prototype, 'open', function (original) {
      return function open(method, url) {
        var result = apply(original, this, arguments);
        opened.set(this, [String(method), String(url)]);
        return result;
      };
    });
    replace(Xhr.prototype, 'send', function (original) {
      return function send() {
        var result = apply(original, this, arguments);
        var words = opened.get(this);
        if (active && words) { begin('request', words[0], words[1], this); }
        return result;
      };
    });
  }

  function linked(delay) {
    var last = recent.get(delay);
    return last && now() - last.at <= NEXT_LINK_MS ? last.link + 1 : 0;
  }

  function fired(delay, link) {
    if (recent.size > 64) { recent.clear(); }
    recent.set(delay, { at: now(), link: link });
  }

  function counted(callback, entry) {
    return function () {
      timers.delete(entry.handle);
      fired(entry.delay, entry.link);
      try {
        return apply(callback, this, arguments);
      } finally {
        fired(entry.delay, entry.link);
      }
    };
  }

  replace(globalThis, 'setTimeout', function (original) {
    return function setTimeout(callback, delay) {
      if (!active || typeof callback !== 'function') { return apply(original, this, arguments); }
      var ms = typeof delay === 'number' && delay > 0 ? delay : 0;
      var entry = { delay: ms, due: now() + ms, link: linked(ms), handle: null };
      var given = Array.prototype.slice.call(arguments);
      given[0] = counted(callback, entry);
      entry.handle = apply(original, this, given);
      timers.set(entry.handle, entry);
      return entry.handle;
    };
  });

  // Either of them clears either kind of timer.
  ['clearTimeout', 'clearInterval'].forEach(function (name) {
    replace(globalThis, name, function (original) {
      return function clear(handle) {
        timers.delete(handle);
        return apply(original, this, arguments);
      };
    });
  });

  // A debugger is answered also in the middle of a loop; this only when the loop is over.
  function turn() {
    asked += 1;
    var number = asked;
    apply(soon, globalThis, [function () { answered = Math.max(answered, number); }, 0]);
    return number;
  }

  // `beat` is 0 for a new turn of the thread, or the one that an earlier probe began.
  function probe(window_ms, beat) {
    var number = beat || turn();
    var busy = [];
    var due = [];
    var at = now();
    sweep();
    requests.forEach(function (entry, number) { busy.push([number, entry.what]); });
    timers.forEach(function (entry, handle) {
      var left = entry.due - at;
      if (left < -FORGOTTEN_MS) { timers.delete(handle); return; }
      if (left <= window_ms && entry.link < ENDLESS) { due.push(Math.max(0, Math.round(left))); }
    });
    return JSON.stringify({ requests: busy, timers: due, beat: number, turned: answered >= number });
  }

  function remove() {
    active = false;
    undo.reverse().forEach(function (put_back) { put_back(); });
    requests.clear();
    timers.clear();
    delete globalThis[key];
    return 'removed';
  }

  Object.defineProperty(globalThis, key, {
    value: { version: version, probe: probe, remove: remove },
    configurable: true, writable: false, enumerable: false
  });
  return 'installed';
})
