// Suppliers, right and wrong. `given` quotes the sentence of the specification that a wrong one breaks.

import { rightSuppliers } from './right.ts'
import type { Supplier } from './supplier.ts'
import { wrongSuppliers } from './wrong.ts'

export const suppliers: Supplier[] = [...wrongSuppliers, ...rightSuppliers]
