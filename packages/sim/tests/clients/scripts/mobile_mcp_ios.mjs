// mobile-mcp's WebDriverAgent class, method by method; the folder of its package is the argument.
import assert from "node:assert";
import { createRequire } from "node:module";

const require = createRequire(`${process.argv[2]}/x.js`);
const { WebDriverAgent } = require("./node_modules/@mobilenext/mobile-mcp/lib/webdriver-agent.js");
const url = new URL(process.env.DEVICE_URL);
const wda = new WebDriverAgent(url.hostname, Number(url.port));
const said = [];

async function place(label) {
  const shown = await wda.getElementsOnScreen();
  const match = shown.find((one) => one.label === label);
  assert(match, `${label} is not among ${shown.map((one) => one.label)}`);
  return [match.rect.x + match.rect.width / 2, match.rect.y + match.rect.height / 2];
}

async function did(name, good) {
  assert(await good, name);
  said.push(name);
}

await did("isRunning", wda.isRunning());
await did("getScreenSize", (await wda.getScreenSize()).scale === 3);
await did("getScreenshot", (await wda.getScreenshot()).subarray(1, 4).toString() === "PNG");
await wda.tap(...(await place("Notes")));
await did("tap", (await place("New note")).length === 2);
await wda.tap(...(await place("New note")));
await wda.tap(...(await place("Title").catch(() => [195, 150])));
await wda.sendKeys("By mobile-mcp");
const fields = (await wda.getElementsOnScreen()).filter((one) => one.type === "TextField");
await did("sendKeys", fields.some((one) => one.value === "By mobile-mcp"));
await wda.pressButton("HOME");
await wda.tap(...(await place("Settings")));
await wda.swipe("up");
await wda.swipe("down");
await wda.swipeFromCoordinate(195, 600, "up", 300);
await wda.swipeFromCoordinate(195, 300, "down", 400);
await wda.doubleTap(195, 70);
await wda.longPress(195, 70, 300);
await did("gestures", (await place("Connected devices")).length === 2);
await wda.setOrientation("landscape");
await did("setOrientation", (await wda.getOrientation()) === "landscape");
await wda.setOrientation("portrait");
await did("getOrientation", (await wda.getOrientation()) === "portrait");
await wda.openUrl("https://example.com");
await did("openUrl", (await wda.getElementsOnScreen()).length > 3);
console.log(`did: ${said}`);
