import type { Connect, EncryptionKey } from '../../connect/index.ts'
import type { FlowStore } from './flow-store.ts'
import type { Masking } from './masking.ts'
import type { Recorder } from './recorder.ts'

/** The services that the inspector's routes use. */
export interface Inspector {
  connect: Connect
  keys: readonly EncryptionKey[]
  /** The address of this app. */
  baseUrl: string
  masking: Masking
  flows: FlowStore
  recorder: Recorder
}
