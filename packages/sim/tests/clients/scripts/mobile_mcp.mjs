// mobile-mcp over its own stdio protocol: devices, apps, launch, elements, tap, type, swipe, button, screenshot.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const server = spawn(process.execPath, [process.env.MOBILE_MCP, '--stdio'], { stdio: ['pipe', 'pipe', 'ignore'] });
const waiting = new Map();
createInterface({ input: server.stdout }).on('line', (line) => {
  const answer = JSON.parse(line);
  waiting.get(answer.id)?.(answer);
});
let last = 0;
const ask = (method, params) => new Promise((ok) => {
  waiting.set(++last, ok);
  server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: last, method, params })}\n`);
});
const call = async (name, args = {}) => {
  const answer = await ask('tools/call', { name, arguments: args });
  assert.ok(!answer.error && !answer.result.isError, `${name}: ${JSON.stringify(answer).slice(0, 300)}`);
  return answer.result.content;
};
const device = process.env.SERIAL;
await ask('initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'test', version: '1' } });
server.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
assert.match(JSON.stringify(await call('mobile_list_available_devices')), new RegExp(device));
assert.match(JSON.stringify(await call('mobile_list_apps', { device })), /com.google.android.contacts/);
await call('mobile_launch_app', { device, packageName: 'com.google.android.contacts' });
const shown = JSON.stringify(await call('mobile_list_elements_on_screen', { device }));
assert.match(shown, /Create new contact/);
await call('mobile_click_on_screen_at_coordinates', { device, x: 965, y: 2159 });
await call('mobile_click_on_screen_at_coordinates', { device, x: 540, y: 330 });
await call('mobile_type_keys', { device, text: 'Mona Mobile', submit: false });
await call('mobile_press_button', { device, button: 'BACK' });
await call('mobile_swipe_on_screen', { device, direction: 'up' });
const picture = await call('mobile_take_screenshot', { device });
assert.ok(picture.some((one) => one.type === 'image'), JSON.stringify(picture).slice(0, 500));
assert.match(JSON.stringify(await call('mobile_get_screen_size', { device })), /1080/);
await call('mobile_press_button', { device, button: 'HOME' });
console.log('client: mobile-mcp');
server.kill();
process.exit(0);
