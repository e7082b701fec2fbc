import { describe, expect, test } from 'vitest'
import {
  aged,
  arrived,
  claimed,
  confirmed,
  confirming,
  ENDED_MS,
  ended,
  FLOW_MS,
  type Flow,
  type Flows,
  started,
  withFlow,
} from '../../../src/connect/authorization/flows.ts'

const NOW = 1_800_000_000_000
const SECRETS = { state: 'state', codeVerifier: 'verifier' }
const OTHERS = { state: 'other state', codeVerifier: 'other verifier' }

const start = (...expected: (string | undefined)[]): Flows =>
  expected.reduce<Flows>(
    (flows, bxcontext, index) => withFlow(flows, started(`flow-${index}`, bxcontext, NOW)),
    [],
  )
/** The flows after a bxcontext has arrived. */
const afterArrival = (flows: Flows, bxcontext: string, secrets = SECRETS) =>
  withFlow(flows, arrived(flows, bxcontext, secrets))
/** One flow whose consent page was opened. */
const consenting = () => afterArrival(start(undefined), 'a')
const claim = (flows: Flows, state = 'state', now = NOW, visit = 'first') =>
  claimed(flows, state, visit, { now, exchangeMs: 45_000 })
/** The flows after the callback was opened. */
const afterClaim = (flows: Flows, now = NOW) => withFlow(flows, claim(flows, 'state', now) as Flow)

describe('a bxcontext', () => {
  test('belongs to the flow that expects it, or else to the latest one', () => {
    const flows = start('a', 'b', undefined)
    expect(arrived(flows, 'a', SECRETS)).toMatchObject({ id: 'flow-0', phase: 'consenting' })
    expect(arrived(flows, 'c', SECRETS)).toMatchObject({ id: 'flow-2', phase: 'consenting' })
  })

  test('belongs to a flow that expects none rather than to one that expects another', () => {
    expect(arrived(start(undefined, 'a'), 'b', SECRETS)).toMatchObject({ id: 'flow-0' })
    const left = afterArrival(start('a', undefined), 'b')
    expect(arrived(left, 'b', OTHERS)).toMatchObject({ id: 'flow-1', phase: 'consenting' })
  })

  test('without a flow that waits for one was planted', () => {
    const over = start(undefined).map((flow) => ended(flow, { connected: 'a' }, NOW))
    for (const flows of [[], over])
      expect(() => arrived(flows, 'b', OTHERS)).toThrow(
        expect.objectContaining({ code: 'missing_authorization_request' }),
      )
  })

  test('in two tabs at once is one of each', () => {
    const first = afterArrival(start(undefined, undefined), 'a')
    const second = afterArrival(first, 'b', OTHERS)
    expect(second.map(({ phase }) => phase)).toEqual(['consenting', 'consenting'])
  })

  test('that arrives later replaces the earlier one of the same flow, whose consent counts for nothing', () => {
    const flows = afterArrival(consenting(), 'b', OTHERS)
    expect(claim(flows)).toBeNull()
    expect(claim(flows, 'other state')).toMatchObject({ phase: 'exchanging', bxcontext: 'b' })
  })

  test('other than the one to reconnect is asked about first', () => {
    const flows = afterArrival(start('a'), 'b')
    expect(flows).toMatchObject([{ phase: 'confirming', bxcontext: 'b', expected: 'a' }])
    expect(confirming(flows, 'flow-0')).toBe(flows[0])
    expect(confirmed(flows, 'flow-0', SECRETS)).toMatchObject({ phase: 'consenting', bxcontext: 'b' })
  })
})

test('a question may be answered again by who goes back, and not after another choice or the consent', () => {
  const flows = afterArrival(start('a'), 'b')
  const answered = withFlow(flows, confirmed(flows, 'flow-0', SECRETS))
  expect(confirming(answered, 'flow-0')).toEqual(flows[0])
  for (const later of [afterArrival(answered, 'a', OTHERS), afterClaim(answered)])
    expect(() => confirming(later, 'flow-0')).toThrow(
      expect.objectContaining({ code: 'missing_authorization_request' }),
    )
})

describe('a callback', () => {
  test('has the flow for its first visit, and its outcome for the others', () => {
    const flows = afterClaim(consenting())
    expect(flows).toMatchObject([{ phase: 'exchanging', visit: 'first', codeVerifier: 'verifier' }])
    expect(claim(flows, 'state', NOW, 'second')).toBe(flows[0])
    const over = flows.map((flow) => ended(flow, { failed: 'consent_denied' }, NOW))
    expect(claim(over)).toMatchObject({ phase: 'ended', outcome: { failed: 'consent_denied' } })
  })

  test('of a state that is not of this session has none', () => {
    expect(claim(consenting(), 'of another')).toBeNull()
  })

  test('in the last second keeps its flow until the exchange is over', () => {
    const flows = afterClaim(consenting(), NOW + FLOW_MS - 1)
    expect(aged(flows, NOW + FLOW_MS + 40_000)).toEqual(flows)
  })
})

describe('a user who takes longer than 15 minutes', () => {
  const late = NOW + FLOW_MS
  const tooLate = expect.objectContaining({ code: 'consent_expired', expected: 'a' })

  test('is told so, with the business to reconnect, whichever step comes next', () => {
    const consented = aged(afterArrival(start('a'), 'a'), late)
    expect(claim(consented)).toMatchObject({ expected: 'a', outcome: { failed: 'consent_expired' } })
    expect(() => arrived(aged(start('a'), late), 'a', OTHERS)).toThrow(tooLate)
    const asked = aged(afterArrival(start('a'), 'b'), late)
    expect(() => confirming(asked, 'flow-0')).toThrow(tooLate)
  })

  test('may start again meanwhile', () => {
    const again = withFlow(aged(start('a'), late), started('next', 'a', late))
    expect(arrived(again, 'a', SECRETS)).toMatchObject({ id: 'next', phase: 'consenting' })
  })
})

test('an exchange whose process ended is known as not finished', () => {
  const later = aged(afterClaim(consenting()), NOW + 45_000)
  expect(claim(later)).toMatchObject({ phase: 'ended', outcome: { failed: 'exchange_incomplete' } })
})

test('a flow that has ended has no secret, and is forgotten after some hours', () => {
  const expired = aged(consenting(), NOW + FLOW_MS)
  const over = consenting().map((flow) => ended(flow, { connected: 'a' }, NOW + FLOW_MS))
  for (const flows of [expired, over]) {
    expect(JSON.stringify(flows)).not.toContain('verifier')
    expect(aged(flows, NOW + FLOW_MS + ENDED_MS - 1)).toEqual(flows)
    expect(aged(flows, NOW + FLOW_MS + ENDED_MS)).toEqual([])
  }
  expect(aged(consenting(), NOW + FLOW_MS + ENDED_MS)).toEqual([])
})

test('a session has at most 20 flows', () => {
  const many = start(...Array.from({ length: 25 }, () => undefined))
  expect(many).toHaveLength(20)
  expect(many.at(-1)).toMatchObject({ id: 'flow-24' })
})
