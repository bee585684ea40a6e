function (text) {
  const proto = this.tagName === 'TEXTAREA' ? HTMLTextAreaElement : HTMLInputElement;
  this.focus();
  if (this.isContentEditable) this.textContent = text;
  else Object.getOwnPropertyDescriptor(proto.prototype, 'value').set.call(this, text);
  this.dispatchEvent(new Event('input', {bubbles: true}));
  this.dispatchEvent(new Event('change', {bubbles: true}));
}
