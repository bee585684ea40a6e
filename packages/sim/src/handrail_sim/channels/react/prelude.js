// What React Native defines before an app's own code runs: requests over the native networking module.
(function (native) {
  'use strict';
  function XMLHttpRequest() {
    this.readyState = 0;
    this.status = 0;
    this.responseText = '';
    this._heard = {};
  }
  function tell(request, name) {
    var own = request['on' + name];
    if (typeof own === 'function') { own.call(request, { type: name, target: request }); }
    (request._heard[name] || []).forEach(function (one) { one.call(request, { type: name, target: request }); });
  }
  function become(request, state) {
    request.readyState = state;
    tell(request, 'readystatechange');
  }
  XMLHttpRequest.prototype.addEventListener = function addEventListener(name, listener) {
    (this._heard[name] = this._heard[name] || []).push(listener);
  };
  XMLHttpRequest.prototype.setRequestHeader = function setRequestHeader() {};
  XMLHttpRequest.prototype.getAllResponseHeaders = function getAllResponseHeaders() { return ''; };
  XMLHttpRequest.prototype.open = function open(method, url) {
    this._method = method;
    this._url = String(url);
    become(this, 1);
  };
  XMLHttpRequest.prototype.send = function send() {
    var request = this;
    native.request(request._method, request._url, function (status, text) {
      if (request.readyState !== 1) { return; }
      request.status = status;
      request.responseText = text;
      become(request, 4);
      tell(request, 'load');
      tell(request, 'loadend');
    });
  };
  XMLHttpRequest.prototype.abort = function abort() {
    this.readyState = 0;
    tell(this, 'abort');
    tell(this, 'loadend');
  };
  globalThis.XMLHttpRequest = XMLHttpRequest;

  function Response(status, text, url) {
    this.status = status;
    this.ok = status >= 200 && status < 300;
    this.url = url;
    this._text = text;
  }
  Response.prototype.text = function text() { return Promise.resolve(this._text); };
  Response.prototype.json = function json() { return this.text().then(JSON.parse); };
  globalThis.Response = Response;

  globalThis.fetch = function fetch(input, options) {
    var url = typeof input === 'string' ? input : input.url;
    return new Promise(function (resolve, reject) {
      var request = new XMLHttpRequest();
      request.onload = function () { resolve(new Response(request.status, request.responseText, url)); };
      request.onabort = function () { reject(new Error('Aborted')); };
      request.open((options && options.method) || 'GET', url);
      request.send();
    });
  };
})
