import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { NotConnectedError } from '../../../src/connect/errors.ts'
import { platform } from '../../../src/connect/index.ts'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import { StoreUnavailableError } from '../../../src/connect/store/store.ts'
import { createBxcontextIndex } from '../../../src/connect/vault/bxcontext-index.ts'
import type { ActiveConnection, RevokedConnection } from '../../../src/connect/vault/connection.ts'
import {
  createConnectionRepository,
  type StoredActive,
} from '../../../src/connect/vault/connection-repository.ts'
import {
  addToIndex,
  removeGrant,
  revoke,
  saveConsent,
  saveTokens,
} from '../../../src/connect/vault/connection-writes.ts'
import { saveConsentOrWithdraw } from '../../../src/connect/vault/disconnect.ts'
import { createRecordCipher } from '../../../src/connect/vault/encryption.ts'
import { createHealthRecords } from '../../../src/connect/vault/health.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { eventsDuring, newKey, REF } from '../../support/vault.ts'

const NOW = 1_800_000_000_000
const BASE: ActiveConnection = {
  format: 1,
  status: 'active',
  ...REF,
  grantId: 'grant',
  scopes: null,
  connectedAt: NOW - 1_000,
  refreshedAt: null,
  accessToken: 'first',
  refreshToken: 'refresh',
  requestedAt: NOW - 1_000,
  issuedAt: NOW - 1_000,
  expiresAt: NOW + 1_000,
  refreshes: 0,
  refreshTokenRotated: false,
}
const connection = (changes: Partial<ActiveConnection> = {}): ActiveConnection => ({ ...BASE, ...changes })
const { accessToken: _a, refreshToken: _r, requestedAt: _q, issuedAt: _i, expiresAt: _e, ...rest } = BASE
const { refreshes: _n, refreshTokenRotated: _t, ...kept } = rest
const REVOKED: RevokedConnection = { ...kept, status: 'revoked', revokedAt: NOW, revokedReason: 'ended' }

let store: ReturnType<typeof openSqlite>
let deps: Parameters<typeof saveTokens>[0]
beforeEach(() => {
  store = openSqlite({ file: ':memory:', now: () => NOW })
  const now = () => NOW
  deps = {
    platform,
    connections: createConnectionRepository(store, createRecordCipher([newKey()]), 'platform'),
    health: createHealthRecords(store, 'platform', now),
    index: createBxcontextIndex(store, 'platform'),
    log: createLog('silent'),
    now,
  }
})
afterEach(() => store.close())

/** Stores the first connection and reads it; then another process writes `later`. */
async function readBefore(later: ActiveConnection | RevokedConnection): Promise<StoredActive> {
  await deps.connections.write(BASE)
  const read = (await deps.connections.read(REF)) as StoredActive
  await deps.connections.write(later as ActiveConnection)
  return read
}
const now = async () => (await deps.connections.read(REF))?.connection

describe('refreshed tokens', () => {
  const next = connection({ accessToken: 'refreshed', requestedAt: NOW - 500 })

  test('are written over the record that was read', async () => {
    await deps.connections.write(BASE)
    const read = (await deps.connections.read(REF)) as StoredActive
    expect(await saveTokens(deps, read, next)).toEqual(next)
    expect(await now()).toEqual(next)
  })

  test.each([
    ['requested later', { requestedAt: NOW - 400 }, 'another'],
    ['requested at the same time', { requestedAt: NOW - 500 }, 'another'],
    ['requested just now', { requestedAt: NOW }, 'another'],
    ['requested earlier', { requestedAt: NOW - 501 }, 'refreshed'],
    ['of a machine whose clock is ahead', { requestedAt: NOW + 1 }, 'refreshed'],
    ['of another grant', { requestedAt: NOW - 600, grantId: 'another' }, 'another'],
  ])('of one process and tokens %s of another one: one of them wins', async (_what, changes, winner) => {
    const read = await readBefore(connection({ accessToken: 'another', ...changes }))
    expect(await saveTokens(deps, read, next)).toMatchObject({ accessToken: winner })
    expect(await now()).toMatchObject({ accessToken: winner })
  })

  test('are announced once if the store wrote them and its answer was lost', async () => {
    await deps.connections.write(BASE)
    const read = (await deps.connections.read(REF)) as StoredActive
    const { compareAndSet } = store
    vi.spyOn(store, 'compareAndSet').mockImplementationOnce(async (...args) => {
      await compareAndSet(...args)
      throw new StoreUnavailableError('no answer')
    })
    const announced = await eventsDuring(async () => {
      await expect(saveTokens(deps, read, next)).rejects.toThrow(StoreUnavailableError)
      expect(await saveTokens(deps, read, next)).toEqual(next)
    })
    expect(announced).toEqual(['refreshed'])
  })

  test('win over a revocation of the same grant, which has been announced: access is announced as recovered', async () => {
    const read = await readBefore(REVOKED)
    const events = await eventsDuring(async () => expect(await saveTokens(deps, read, next)).toEqual(next))
    expect(await now()).toEqual(next)
    expect(events).toEqual(['refreshed', 'recovered'])
  })

  test('of another grant do not win over a revocation', async () => {
    const read = await readBefore({ ...REVOKED, grantId: 'another' })
    await expect(saveTokens(deps, read, next)).rejects.toMatchObject({ code: 'connection_revoked' })
  })
})

describe('a revocation', () => {
  test('removes the tokens and the health of the connection', async () => {
    await deps.health.noteRefreshProblem(REF, 'error')
    await deps.connections.write(BASE)
    const read = (await deps.connections.read(REF)) as StoredActive
    await expect(revoke(deps, read, 'ended')).rejects.toMatchObject({ code: 'connection_revoked' })
    expect(await now()).toEqual(REVOKED)
    expect((await deps.health.read(REF)).problem).toBeNull()
  })

  test('is written although the record was encrypted again meanwhile', async () => {
    await expect(revoke(deps, await readBefore(BASE), 'ended')).rejects.toMatchObject({
      code: 'connection_revoked',
    })
    expect(await now()).toEqual(REVOKED)
  })

  test.each([
    ['newer tokens', { accessToken: 'another' }],
    ['a new grant, even with the same access token', { grantId: 'another' }],
    ['a new grant', { grantId: 'another', accessToken: 'another' }],
  ])('is not written over %s', async (_what, changes) => {
    const later = connection(changes)
    expect(await revoke(deps, await readBefore(later), 'ended')).toEqual(later)
    expect(await now()).toEqual(later)
  })
})

test.each([
  ['given later', NOW - 1, false],
  ['given just now', NOW, false],
  ['given earlier', NOW - 1_001, true],
  ['of a machine whose clock is ahead', NOW + 1, true],
])('a consent is stored over another one %s: %s', async (_what, connectedAt, isStored) => {
  const [other, consent] = [connection({ grantId: 'other', connectedAt }), connection({ grantId: 'new' })]
  await deps.connections.write(other)
  expect((await saveConsent(deps, consent)).connection.grantId).toBe(isStored ? 'new' : 'other')
  expect(await now()).toEqual(isStored ? consent : other)
})

/** Stores a consent for a platform without a revocation endpoint. */
const save = async (consent: ActiveConnection) =>
  (await saveConsentOrWithdraw({ ...deps, oauth: {} }, consent)).connection

test('a consent that could not be written over an unreadable record is not stored after its account was disconnected', async () => {
  const otherKey = createConnectionRepository(store, createRecordCipher([newKey()]), 'platform')
  await otherKey.write(BASE)
  const consent = connection({ grantId: 'new' })
  vi.spyOn(deps.connections, 'write').mockRejectedValueOnce(new StoreUnavailableError('full'))
  await expect(save(consent)).rejects.toThrow(StoreUnavailableError)
  await deps.connections.noteDisconnect(REF, NOW)
  await deps.connections.remove(REF)
  await expect(save(consent)).rejects.toThrow(NotConnectedError)
  expect(await deps.connections.read(REF)).toBeNull()
})

test('a consent that could not be stored at first is stored although the store has lost the record before', async () => {
  await deps.connections.write(BASE)
  const consent = connection({ grantId: 'new', connectedAt: NOW - 1 })
  const replace = vi
    .spyOn(deps.connections, 'replace')
    .mockRejectedValueOnce(new StoreUnavailableError('full'))
  await expect(save(consent)).rejects.toThrow(StoreUnavailableError)
  expect(replace).toHaveBeenCalledOnce()
  await deps.connections.remove(REF)
  expect(await save(consent)).toEqual(consent)
  expect(await now()).toEqual(consent)
})

test('a consent is stored although an earlier one, which it has read, is removed because of a disconnect before it', async () => {
  await deps.connections.write(BASE)
  await deps.connections.noteDisconnect(REF, NOW - 100)
  const consent = connection({ grantId: 'new', connectedAt: NOW - 50 })
  const { read } = deps.connections
  vi.spyOn(deps.connections, 'read').mockImplementationOnce(async (ref) => {
    const found = await read(ref)
    await deps.connections.remove(REF)
    return found
  })
  expect(await save(consent)).toEqual(consent)
  expect(await now()).toEqual(consent)
})

test('a consent whose first answer was lost is removed again if a disconnect was noted meanwhile', async () => {
  const consent = connection({ connectedAt: NOW - 100 })
  const { compareAndSet } = store
  vi.spyOn(store, 'compareAndSet').mockImplementationOnce(async (...args) => {
    await compareAndSet(...args)
    throw new StoreUnavailableError('no answer')
  })
  await expect(save(consent)).rejects.toThrow(StoreUnavailableError)
  await deps.connections.noteDisconnect(REF, NOW - 50)
  await expect(save(consent)).rejects.toThrow(NotConnectedError)
  expect(await deps.connections.read(REF)).toBeNull()
})

test('a consent that is removed again is revoked by its latest tokens', async () => {
  const revoke = vi.fn(async () => {})
  await deps.connections.write(connection({ accessToken: 'later', refreshToken: 'rotated' }))
  await deps.connections.noteDisconnect(REF, NOW)
  await expect(saveConsentOrWithdraw({ ...deps, oauth: { revoke } }, BASE)).rejects.toThrow(NotConnectedError)
  expect(revoke.mock.calls).toEqual([['rotated', 'refresh_token']])
})

test('a consent ends by a disconnect that is noted after it, and not by one before it', async () => {
  await deps.connections.noteDisconnect(REF, NOW - 100)
  const later = connection({ connectedAt: NOW - 99 })
  expect(await save(later)).toEqual(later)
  await expect(save(connection({ grantId: 'earlier', connectedAt: NOW - 101 }))).rejects.toThrow(
    NotConnectedError,
  )
  expect(await now()).toEqual(later)
})

test('a consent ends by a disconnect that another machine notes at that moment, whose clock is a little ahead', async () => {
  await deps.connections.noteDisconnect(REF, NOW + 20)
  await expect(save(BASE)).rejects.toThrow(NotConnectedError)
  expect(await deps.connections.read(REF)).toBeNull()
})

test('a consent is not written if a disconnect is noted already', async () => {
  await deps.connections.noteDisconnect(REF, NOW)
  const create = vi.spyOn(deps.connections, 'create')
  await expect(save(BASE)).rejects.toThrow(NotConnectedError)
  expect(create).not.toHaveBeenCalled()
})

test('a consent is stored if a disconnect is noted by a clock that is ten minutes ahead', async () => {
  const consent = connection({ grantId: 'later', connectedAt: NOW - 100 })
  await deps.connections.noteDisconnect(REF, NOW + 600_000)
  expect(await save(consent)).toEqual(consent)
})

test('removing the grant of a connection that was disconnected leaves a consent that is written meanwhile', async () => {
  await deps.connections.write(BASE)
  await deps.index.add(REF)
  const { read } = deps.connections
  const consent = connection({ grantId: 'new' })
  deps.connections.read = async (ref) => {
    const stored = await read(ref)
    await deps.connections.write(consent)
    return stored
  }
  await removeGrant(deps, BASE)
  deps.connections.read = read
  expect(await now()).toEqual(consent)
  expect(await deps.index.usersOf(REF.bxcontext)).toEqual([REF.userId])
})

test('a user whose account is disconnected while the index is written is not left in it', async () => {
  await deps.connections.write(BASE)
  const { add } = deps.index
  deps.index.add = async (ref) => {
    await deps.connections.remove(ref)
    await deps.index.remove(ref)
    await add(ref)
  }
  await addToIndex(deps, BASE)
  expect(await deps.index.usersOf(REF.bxcontext)).toEqual([])
})

test('the grant of a connection that was disconnected is removed, with its place in the index', async () => {
  await deps.connections.write(BASE)
  await deps.index.add(REF)
  await removeGrant(deps, connection({ grantId: 'another' }))
  expect(await now()).toEqual(BASE)
  expect(await deps.index.usersOf(REF.bxcontext)).toEqual([REF.userId])
  await removeGrant(deps, BASE)
  expect(await now()).toBeUndefined()
  expect(await deps.index.usersOf(REF.bxcontext)).toEqual([])
})
