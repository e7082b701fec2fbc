import { describe, expect, test } from 'vitest'
import type { Finding } from '../../../src/features/supplier-check/check-supplier.ts'
import { htmlReport } from '../../../src/features/supplier-check/html-report.ts'
import { junitReport } from '../../../src/features/supplier-check/junit-report.ts'
import type { Report } from '../../../src/features/supplier-check/report.ts'
import { CLIENT, findingsWith, type Tamper } from './model-supplier.ts'
import { grant, isPrices, isToken, open, together } from './tampers.ts'
import { elementsOf, parseXml } from './well-formed.ts'

const NASTY = `</pre><script>alert(1)</script> & "quoted" 'single' ]]> \u0000\u0007\u001b[2J \ud800 \uffff ü 日本 😀`

const call = { request: `GET /${NASTY}`, status: 200, answer: NASTY }
const finding = (outcome: Finding['outcome'], given?: string, more: Partial<Finding> = {}): Finding => ({
  rule: {
    id: `group.${outcome}`,
    title: 'It holds.',
    ...(given && { given }),
    needs: [],
    check: () => Promise.reject(new Error('not called')),
  },
  outcome,
  ...more,
})
const REPORT: Report = {
  baseUrl: `http://localhost/${NASTY}`,
  givenOnly: false,
  findings: [
    finding('pass', '§4.1', { call }),
    finding('fail', '§4.1', { reason: NASTY, call }),
    finding('fail', undefined, { reason: 'It does not.', call }),
    finding('unchecked', undefined, { reason: NASTY }),
  ],
}
const rowsOf = (report: Report) => elementsOf(parseXml(htmlReport(report)), 'tr').slice(1)
const outcomesOf = (report: Report) =>
  elementsOf(parseXml(junitReport(report)), 'testcase').map(({ children }) => children[0]?.name)

describe('the HTML report', () => {
  test('is well-formed, with a row for each rule and everything escaped, and loads nothing', () => {
    const page = htmlReport(REPORT)
    const document = parseXml(page)
    expect(page).toMatch(/^<!DOCTYPE html>\n<html lang="en">/)
    const rows = rowsOf(REPORT)
    expect(rows.map(({ children }) => [children[0]?.text, children[2]?.text])).toEqual([
      ['pass', 'given, §4.1'],
      ['fail', 'given, §4.1'],
      ['fail', 'assumed'],
      ['not checked', 'assumed'],
    ])
    expect(rows[1]?.text).toContain(`</pre><script>alert(1)</script> & "quoted" 'single' ]]>`)
    expect(rows[1]?.text).toContain('ü 日本 😀')
    expect(elementsOf(document, 'script')).toEqual([])
    expect(document.text).toContain('1 rules passed, 2 failed, 1 could not be checked.')
    expect(htmlReport({ ...REPORT, baseUrl: '', findings: [] })).not.toMatch(/https?:|src=|url\(/)
  })

  test('shows a broken rule that does not count as a warning', () => {
    const outcomes = rowsOf({ ...REPORT, givenOnly: true }).map(({ children }) => children[0]?.text)
    expect(outcomes).toEqual(['pass', 'fail', 'warning', 'not checked'])
  })
})

describe('the JUnit report', () => {
  test('is well-formed, with a test case for each rule', () => {
    const document = parseXml(junitReport(REPORT))
    expect(document.children[0]?.name).toBe('testsuites')
    const [suite] = elementsOf(document, 'testsuite')
    expect(suite?.attributes).toMatchObject({ tests: '4', failures: '2', errors: '0', skipped: '1' })
    expect(outcomesOf(REPORT)).toEqual([undefined, 'failure', 'failure', 'skipped'])
    const [, failed] = elementsOf(document, 'testcase')
    expect(failed?.attributes.name).toBe('group.fail: It holds. (given, §4.1)')
    expect(failed?.children[0]?.attributes.message).toContain('</pre><script>')
    expect(failed?.text).toContain(' 日本 😀')
  })

  test('does not fail for a broken rule that does not count', () => {
    const report = { ...REPORT, givenOnly: true }
    const document = parseXml(junitReport(report))
    expect(outcomesOf(report)).toEqual([undefined, 'failure', 'skipped', 'skipped'])
    const [skipped] = elementsOf(document, 'skipped')
    expect(skipped?.attributes.message).toBe('Broken, but assumed: It does not.')
    expect(elementsOf(document, 'testsuite')[0]?.attributes).toMatchObject({ failures: '1', skipped: '2' })
  })
})

describe('a supplier that repeats secrets', () => {
  /** Repeats what it knows and what it was sent in every answer, in several encodings. */
  const echoing: Tamper = (asked, answer) => {
    const { client_secret: sent = '' } = asked.form
    const tokens = [...asked.tokens.keys()].join(' ')
    const known = [String(sent), CLIENT.secret, asked.authorization ?? '', tokens]
    const told = known.flatMap((text) => [
      text,
      text.toUpperCase(),
      encodeURIComponent(text),
      Buffer.from(text).toString('base64'),
      Buffer.from(text).toString('hex'),
    ])
    if (isToken(asked) && answer.status === 200) answer.headers['x-secret'] = CLIENT.secret
    else if (Array.isArray(answer.body)) for (const element of answer.body) element.told = told
    else answer.body = { ...answer.body, told, id: CLIENT.secret }
    if (isPrices(asked) && answer.status === 200)
      for (const price of answer.body)
        Object.assign(price, { itemId: CLIENT.secret, unitPrice: CLIENT.secret })
    // JSON may escape any character.
    if (!isToken(asked))
      answer.body = JSON.stringify(answer.body)
        .replaceAll('Secret', '\\u0053ecret')
        .replaceAll('Token', '\\u0054oken')
  }

  const acceptsPartOfSecret = grant(
    ({ form }) => form.grant_type !== undefined && CLIENT.secret.slice(0, -1) === form.client_secret,
  )
  const acceptsPartOfToken = open(
    ({ path, authorization = '', tokens }) =>
      path === '/request-prices' &&
      [...tokens.keys()].some((token) => authorization === `Bearer ${token.slice(0, -1)}`),
  )
  const cases: [string, Tamper, string][] = [
    ['everywhere', echoing, 'store.one'],
    ['and accepts the beginning of a secret', together(acceptsPartOfSecret, echoing), 'token.near-secret'],
    ['and accepts the beginning of a token', together(acceptsPartOfToken, echoing), 'access.near-token'],
  ]

  test.each(cases)('%s does not get them into findings and reports', async (_name, tamper, id) => {
    const findings = await findingsWith(tamper)
    expect(findings.find(({ rule }) => rule.id === id)).toMatchObject({ outcome: 'fail' })
    const report = { baseUrl: 'http://localhost', findings, givenOnly: false }
    const texts = [JSON.stringify(findings), htmlReport(report), junitReport(report)].join('\n')
    for (const secret of ['of-the-Model', 'OF-THE-MODEL', '0053ecret', 'Token-0', 'TOKEN-0', '-abcde'])
      expect(texts.includes(secret), secret).toBe(false)
    for (const encoding of ['base64', 'hex'] as const)
      expect(texts).not.toContain(
        Buffer.from(CLIENT.secret).toString(encoding).replace(/=+$/, '').slice(0, -2),
      )
    expect(texts).toContain('[hidden]')
  })
})
