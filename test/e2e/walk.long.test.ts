import { expect, test } from 'vitest'
import { startAll } from '../support/app.ts'
import { openChromium, startWalk } from '../support/chromium.ts'
import { CHROMIUM, withChromium } from '../support/programs.ts'

test.skipIf(!CHROMIUM)(
  `a new user connects, denies, is revoked, reconnects and signs out; each page is accessible and fits in every window${withChromium}`,
  async () => {
    const browser = await openChromium()
    const app = await startAll()
    const { page, complaints, look, inspectWithoutScripts, close } = await startWalk(browser)
    const press = (name: string) => page.getByRole('button', { name }).first().click()
    const heading = () => page.getByRole('heading', { level: 1 }).innerText()

    // Sign in and connect.
    await page.goto(app.url)
    await look()
    await page.getByLabel('Your name').fill('Ann')
    await press('Sign in')
    expect(page.url()).toBe(`${app.url}/`)
    expect(await page.locator('nav [aria-current=page]').innerText()).toBe('Connections')
    await look()
    await press('Connect a business')
    await page.waitForURL((url) => url.href.startsWith(`${app.platform}/login`))
    expect(await page.locator('main').innerText()).toContain('to continue to Test App')
    await look()
    await page.getByLabel('Email').fill('olivia@harbour.example')
    await page.getByLabel('Password').fill('wrong')
    await press('Log in')
    expect(await page.getByRole('alert').innerText()).toContain('Incorrect email or password')
    await page.getByLabel('Email').fill('olivia@harbour.example')
    await page.getByLabel('Password').fill('sandbox')
    await press('Log in')
    expect(page.url()).toContain(`${app.platform}/oauth2.html`)
    await look()
    await press('Harbour Homes')

    // The consent page tells who asks, for which business, for what, in words.
    expect(await heading()).toBe('Test App asks for access')
    expect(await page.locator('main').innerText()).toMatch(
      /Harbour Homes[\s\S]*catalogues and their prices[\s\S]*your leads/,
    )
    await look()
    await press('Allow access')
    expect(page.url()).toBe(`${app.url}/connections`)
    expect(await page.getByRole('status').innerText()).toBe('Harbour Homes is connected.')
    expect(await page.locator(':focus').innerText()).toBe('Harbour Homes is connected.')
    await look()

    // A second bxcontext, of another account.
    await page.goto(`${app.platform}/connected-apps`)
    await press('Log out')
    await page.goto(`${app.url}/connections`)
    await press('Connect a business')
    await press('Marcus Reid')
    await press('Allow access')
    expect(await page.locator('.card').count()).toBe(2)

    // The user denies access, and the page explains that.
    await page.goto(`${app.url}/connections`)
    await press('Connect a business')
    await press('Deny')
    expect(await heading()).toBe('Access was not granted')
    await look()
    await page.getByRole('link', { name: 'Your connections' }).click()
    expect(await page.locator('.card').count()).toBe(2)

    // Revoked on the platform: noticed at the next call, with when and why; Reconnect works.
    await page.goto(`${app.platform}/connected-apps`)
    await look()
    await press('Revoke')
    await page.goto(`${app.url}/connections/ridgeline-build/probe`)
    expect(await heading()).toBe('Access has ended')
    expect(await page.locator('main').innerText()).toContain('ended on the platform')
    await page.getByText('Details', { exact: true }).click()
    expect(await page.locator('main').innerText()).toMatch(/For support[\s\S]*invalid_grant/)
    await look()
    await page.goto(`${app.url}/connections`)
    const revoked = page.locator('.card').filter({ hasText: 'ridgeline-build' })
    expect(await revoked.innerText()).toMatch(/Access ended on \d+ \w+ \d+/)
    expect(await revoked.innerText()).not.toMatch(/token|invalid_grant/i)
    await revoked.getByText('Details of').click()
    await look()
    await revoked.getByRole('button', { name: 'Reconnect' }).click()
    await press('Allow access')
    expect(await revoked.locator('.badge').innerText()).toBe('Working')
    expect(await page.locator('.card').count()).toBe(2)

    // Renew, disconnect, sign out.
    await revoked.getByText('Details of').click()
    await revoked.getByRole('button', { name: 'Renew access now' }).click()
    expect(await page.getByRole('status').innerText()).toContain('was renewed')
    await revoked.getByText('Details of').click()
    expect(await revoked.locator('time[data-countdown]').innerText()).toMatch(/^for [45] min/)
    await revoked.getByRole('link', { name: 'Disconnect' }).click()
    expect(await heading()).toMatch(/^Disconnect .+\?$/)
    await look()
    await press('Disconnect')
    expect(await page.locator('.card').count()).toBe(1)
    await press('Sign out')
    expect(await heading()).toBe('Connect your business to Connect Starter')
    await page.goto(`${app.url}/connections`)
    expect(await heading()).toBe('Please sign in to continue')
    await look()

    // The sandbox's other pages.
    for (const path of ['/', '/sandbox/faults', '/oauth2.html?redirectUrl=https://elsewhere.example/x']) {
      await page.goto(app.platform + path)
      await look()
    }
    await inspectWithoutScripts()
    expect(complaints).toEqual([])
    await close()
    await Promise.all([app.close(), browser.close()])
  },
)
