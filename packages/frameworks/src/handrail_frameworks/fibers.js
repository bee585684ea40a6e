// Lists the host components of every React root with the components that drew them, and has them measured.
// Evaluates to JSON: the hosts, and how many measurements are still to come; those are read from the bag.
(function (key, limit) {
  'use strict';
  var hook = globalThis.__REACT_DEVTOOLS_GLOBAL_HOOK__;
  if (!hook || !hook.renderers || typeof hook.getFiberRoots !== 'function') {
    return JSON.stringify({ problem: 'the app has no React DevTools hook: is it a debug build?' });
  }
  var OFFSCREEN = 22;
  var PICKED = ['accessibilityLabel', 'aria-label', 'title', 'label', 'alt', 'name', 'icon', 'contentDescription'];
  var bag = { hosts: [], left: 0 };
  var seen = 0;

  function isHost(fiber) { return typeof fiber.type === 'string' && fiber.stateNode !== null; }

  // memo() and forwardRef() wrap the function that has the name.
  function nameOf(type) {
    for (var step = 0; type && step < 4; step += 1) {
      if (typeof type === 'string') { return ''; }
      if (type.displayName) { return String(type.displayName); }
      if (typeof type === 'function') { return type.name || ''; }
      type = type.type || type.render;
    }
    return '';
  }

  function short(value) {
    if (value !== null && typeof value === 'object') { value = value.name || value.iconName || value.uri; }
    return typeof value === 'string' && value.length <= 80 ? value : '';
  }

  function pick(props, into) {
    PICKED.forEach(function (name) {
      var value = props && !into[name] ? short(props[name]) : '';
      if (value) { into[name] = value; }
    });
  }

  // Kept alive by a navigator or by React itself, and not on the screen.
  function isHidden(fiber) {
    var props = fiber.memoizedProps;
    if (fiber.tag === OFFSCREEN) { return fiber.memoizedState !== null; }
    if (!props || typeof props !== 'object') { return false; }
    return props.activityState === 0 || props.accessibilityElementsHidden === true ||
      props.importantForAccessibility === 'no-hide-descendants';
  }

  // A component that draws several hosts side by side is a part of the page, not the name of one of them.
  function drawsOne(fiber) {
    var count = 0;
    var todo = [fiber.child];
    while (todo.length && count < 2) {
      var next = todo.pop();
      if (!next) { continue; }
      todo.push(next.sibling);
      if (isHost(next)) { count += 1; } else { todo.push(next.child); }
    }
    return count === 1;
  }

  function measure(fiber, host) {
    var node = fiber.stateNode;
    var shown = node.canonical && node.canonical.publicInstance;
    var able = [node, shown].filter(function (one) { return one && typeof one.measureInWindow === 'function'; })[0];
    var fabric = globalThis.nativeFabricUIManager;
    function told(x, y, width, height) {
      if (host.box === null) { bag.left -= 1; }
      host.box = [x, y, width, height];
    }
    if (!able && !(fabric && node.node)) { return; }
    bag.left += 1;
    try {
      if (able) { able.measureInWindow(told); } else { fabric.measureInWindow(node.node, told); }
    } catch (error) {
      bag.left -= 1;
    }
  }

  function record(fiber, above, depth) {
    var props = fiber.memoizedProps || {};
    var picked = {};
    pick(props, picked);
    above.forEach(function (one) { pick(one.props, picked); });
    var host = {
      type: fiber.type, depth: depth, names: above.map(function (one) { return one.name; }), props: picked,
      testID: short(props.testID || props.nativeID), text: short(props.children), box: null
    };
    bag.hosts.push(host);
    measure(fiber, host);
  }

  function walk(root) {
    var todo = [[root, [], 0]];
    while (todo.length && seen < limit) {
      var turn = todo.pop();
      var fiber = turn[0];
      var above = turn[1];
      if (fiber.sibling && turn[2] > 0) { todo.push([fiber.sibling, turn[1], turn[2]]); }
      if (isHidden(fiber)) { continue; }
      seen += 1;
      if (isHost(fiber)) {
        record(fiber, above, turn[2]);
        above = [];
      } else {
        var name = nameOf(fiber.type);
        if (name && drawsOne(fiber)) { above = [{ name: name, props: fiber.memoizedProps }].concat(above); }
      }
      if (fiber.child) { todo.push([fiber.child, above, turn[2] + 1]); }
    }
  }

  hook.renderers.forEach(function (renderer, id) {
    hook.getFiberRoots(id).forEach(function (root) { walk(root.current); });
  });
  if (bag.left > 0) {
    Object.defineProperty(globalThis, key, { value: bag, configurable: true, writable: true, enumerable: false });
  }
  return JSON.stringify(bag);
})
