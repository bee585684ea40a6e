// A W3C session over a running Appium server: find, tap, type, scroll, source, screenshot, gestures, actions.
import assert from 'node:assert/strict';
import { remote } from 'webdriverio';

const driver = await remote({
  hostname: '127.0.0.1', port: Number(process.env.APPIUM_PORT), logLevel: 'error', connectionRetryCount: 0,
  capabilities: {
    platformName: 'Android', 'appium:automationName': 'UiAutomator2', 'appium:udid': process.env.SERIAL,
    'appium:adbPort': Number(process.env.ANDROID_ADB_SERVER_PORT), 'appium:appPackage': 'com.google.android.contacts',
    'appium:noReset': true, 'appium:forceAppLaunch': true, 'appium:systemPort': Number(process.env.SYSTEM_PORT),
  },
});
try {
  assert.match(await driver.getPageSource(), /android.widget.ListView/);
  assert.ok((await driver.takeScreenshot()).length > 10000);
  await (await driver.$('~Create new contact')).click();
  const name = await driver.$('android=new UiSelector().className("android.widget.EditText").instance(0)');
  await name.setValue('Appia');
  await name.addValue(' Driver');
  assert.equal(await name.getText(), 'Appia Driver');
  await (await driver.$('//*[@text="Save"]')).click();
  assert.ok(await (await driver.$('//*[@text="Appia Driver"]')).isDisplayed());
  await driver.back();
  const far = 'new UiScrollable(new UiSelector().scrollable(true)).scrollIntoView(new UiSelector().text("Rosalind Copperfen"))';
  assert.ok(await (await driver.$(`android=${far}`)).isDisplayed());
  const list = await driver.$('//android.widget.ListView');
  await driver.execute('mobile: scrollGesture', { elementId: list.elementId, direction: 'down', percent: 1.0 });
  await driver.action('pointer', { parameters: { pointerType: 'touch' } })
    .move({ x: 540, y: 700 }).down().move({ x: 540, y: 1700, duration: 200 }).up().perform();
  await driver.execute('mobile: swipeGesture', { left: 100, top: 600, width: 800, height: 1000, direction: 'up', percent: 0.7 });
  assert.equal((await driver.$$('//android.widget.ImageButton')).length > 0, true);
  assert.equal(await (await driver.$('//*[@text="nobody"]')).isExisting(), false);
  await driver.setOrientation('LANDSCAPE');
  assert.equal(await driver.getOrientation(), 'LANDSCAPE');
  await driver.setOrientation('PORTRAIT');
  await driver.setClipboard(Buffer.from('carried').toString('base64'), 'plaintext');
  assert.equal(Buffer.from(await driver.getClipboard(), 'base64').toString(), 'carried');
  assert.equal(await driver.getCurrentPackage(), 'com.google.android.contacts');
  await driver.execute('mobile: pressKey', { keycode: 3 });
  await driver.execute('mobile: activateApp', { appId: 'com.android.settings' });
  assert.equal(await driver.getCurrentPackage(), 'com.android.settings');
  assert.equal((await driver.execute('mobile: deviceInfo', {})).apiVersion, '34');
  assert.equal(await driver.queryAppState('com.android.settings'), 4);
  await driver.hideKeyboard().catch(() => {});
} finally {
  await driver.deleteSession();
}
console.log('client: appium');
