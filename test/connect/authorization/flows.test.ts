import { describe, expect, test } from 'vitest'
import {
  aged,
  arrived,
  claimed,
  confirmed,
  confirming,
  EXPIRED_MS,
  ended,
  FLOW_MS,
  type Flows,
  started,
} from '../../../src/connect/authorization/flows.ts'

const NOW = 1_800_000_000_000
const SECRETS = { state: 'state', codeVerifier: 'verifier' }
const OTHERS = { state: 'other state', codeVerifier: 'other verifier' }

const start = (...expected: (string | undefined)[]): Flows =>
  expected.reduce<Flows>((flows, bxcontext, index) => started(flows, `flow-${index}`, bxcontext, NOW), [])
/** One flow whose consent page was opened. */
const consenting = (): Flows => arrived(start(undefined), 'a', SECRETS).flows
const claim = (flows: Flows, state = 'state') => claimed(flows, state, NOW, 45_000)

describe('a bxcontext', () => {
  test('belongs to the flow that expects it, or else to the latest one', () => {
    const flows = start('a', 'b', undefined)
    expect(arrived(flows, 'a', SECRETS).flow).toMatchObject({ id: 'flow-0', phase: 'consenting' })
    expect(arrived(flows, 'c', SECRETS).flow).toMatchObject({ id: 'flow-2', phase: 'consenting' })
  })

  test('belongs to a flow that expects none rather than to one that expects another', () => {
    expect(arrived(start(undefined, 'a'), 'b', SECRETS).flow).toMatchObject({ id: 'flow-0' })
    const left = arrived(start('a', undefined), 'b', SECRETS).flows
    expect(arrived(left, 'b', OTHERS).flow).toMatchObject({ id: 'flow-1', phase: 'consenting' })
  })

  test('without a flow that waits for one was planted', () => {
    expect(() => arrived([], 'a', SECRETS)).toThrow(
      expect.objectContaining({ code: 'missing_authorization_request' }),
    )
    const over = ended(claim(consenting()).flows, 'flow-0', { connected: 'a' }, NOW)
    expect(() => arrived(over, 'b', OTHERS)).toThrow(
      expect.objectContaining({ code: 'missing_authorization_request' }),
    )
  })

  test('in two tabs at once is one of each', () => {
    const first = arrived(start(undefined, undefined), 'a', SECRETS)
    const second = arrived(first.flows, 'b', OTHERS)
    expect(new Set([first.flow.id, second.flow.id]).size).toBe(2)
  })

  test('that arrives later replaces the earlier one of the same flow, whose consent counts for nothing', () => {
    const { flows } = arrived(consenting(), 'b', OTHERS)
    expect(() => claim(flows)).toThrow(expect.objectContaining({ code: 'invalid_state' }))
    expect(claim(flows, 'other state').flow).toMatchObject({ phase: 'consenting', bxcontext: 'b' })
  })

  test('other than the one to reconnect is asked about first', () => {
    const { flows, flow } = arrived(start('a'), 'b', SECRETS)
    expect(flow).toMatchObject({ phase: 'confirming', bxcontext: 'b', expected: 'a' })
    expect(confirming(flows, flow.id)).toBe(flow)
    expect(confirmed(flows, flow.id, SECRETS).flow).toMatchObject({ phase: 'consenting', bxcontext: 'b' })
  })
})

test('a question may be answered again by who goes back, and not after another choice or the consent', () => {
  const { flows, flow } = arrived(start('a'), 'b', SECRETS)
  const answered = confirmed(flows, flow.id, SECRETS).flows
  expect(confirming(answered, flow.id)).toEqual(flow)
  const chosenAgain = arrived(answered, 'a', OTHERS).flows
  const consented = claim(answered).flows
  for (const later of [chosenAgain, consented])
    expect(() => confirming(later, flow.id)).toThrow(
      expect.objectContaining({ code: 'missing_authorization_request' }),
    )
})

describe('a callback', () => {
  test('gets the code verifier once, and then the outcome', () => {
    const first = claim(consenting())
    expect(first.flow).toMatchObject({ phase: 'consenting', codeVerifier: 'verifier' })
    const second = claim(first.flows)
    expect(second.flow.phase).toBe('exchanging')
    expect(second.flows).toBe(first.flows)
    const over = ended(first.flows, 'flow-0', { failed: 'consent_denied' }, NOW)
    expect(claim(over).flow).toMatchObject({ phase: 'ended', outcome: { failed: 'consent_denied' } })
  })

  test('of a state that is not of this session is refused', () => {
    expect(() => claim(consenting(), 'of another')).toThrow(
      expect.objectContaining({ code: 'invalid_state' }),
    )
  })

  test('in the last second keeps its flow until the exchange is over', () => {
    const { flows } = claimed(consenting(), 'state', NOW + FLOW_MS - 1, 45_000)
    expect(aged(flows, NOW + FLOW_MS + 40_000)).toHaveLength(1)
  })
})

describe('a user who takes longer than 15 minutes', () => {
  const late = NOW + FLOW_MS
  const tooLate = expect.objectContaining({ code: 'consent_expired', expected: 'a' })

  test('is told so, with the business to reconnect, whichever step comes next', () => {
    const { flows } = arrived(start('a'), 'a', SECRETS)
    const asked = arrived(start('a'), 'b', SECRETS)
    expect(() => claim(aged(flows, late))).toThrow(tooLate)
    expect(() => arrived(aged(start('a'), late), 'a', OTHERS)).toThrow(tooLate)
    expect(() => confirming(aged(asked.flows, late), asked.flow.id)).toThrow(tooLate)
  })

  test('leaves no secret, and is forgotten after some hours', () => {
    const expired = aged(consenting(), late)
    expect(JSON.stringify(expired)).not.toContain('verifier')
    expect(aged(expired, late + EXPIRED_MS - 1)).toEqual(expired)
    expect(aged(expired, late + EXPIRED_MS)).toEqual([])
    expect(aged(consenting(), late + EXPIRED_MS)).toEqual([])
  })

  test('may start again meanwhile', () => {
    const again = started(aged(start('a'), late), 'next', 'a', late)
    expect(arrived(again, 'a', SECRETS).flow).toMatchObject({ id: 'next', phase: 'consenting' })
  })
})

test('an exchange whose process ended is known as not finished', () => {
  const { flows } = claim(consenting())
  const later = aged(flows, NOW + 45_000)
  expect(claim(later).flow).toMatchObject({ phase: 'ended', outcome: { failed: 'exchange_incomplete' } })
  expect(aged(later, NOW + 45_000 + FLOW_MS)).toEqual([])
})

test('an exchange that ended is known for 15 minutes', () => {
  const over = ended(claim(consenting()).flows, 'flow-0', { connected: 'a' }, NOW)
  expect(aged(over, NOW + FLOW_MS - 1)).toEqual(over)
  expect(aged(over, NOW + FLOW_MS)).toEqual([])
})

test('a session has at most 20 flows', () => {
  const many = start(...Array.from({ length: 25 }, () => undefined))
  expect(many).toHaveLength(20)
  expect(many.at(-1)).toMatchObject({ id: 'flow-24' })
})
