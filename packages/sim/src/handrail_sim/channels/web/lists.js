addEventListener('mousedown', (event) => {
  const list = event.composedPath()[0];
  if (list.tagName !== 'SELECT' || list.multiple || list.size > 1 || list.disabled) return;
  event.preventDefault();
  list.focus();
  globalThis.pick = (number) => {
    list.selectedIndex = number;
    list.dispatchEvent(new Event('input', {bubbles: true}));
    list.dispatchEvent(new Event('change', {bubbles: true}));
  };
  simList(JSON.stringify({labels: [...list.options].map((one) => one.label), chosen: list.selectedIndex}));
}, true)
