import { novaContract, withoutGuests } from '../contract/nova-contract.ts'
import { labCloud } from './lab.ts'

/**
 * What it says of guests, guest-contract.test.ts asks of real ones on the same Nova; that those of the fake driver are alike takes three minutes,
 * and is asked with LIFEBOAT_LAB_FAKE_GUESTS=1.
 */
const sentences = process.env['LIFEBOAT_LAB_FAKE_GUESTS'] === '1' ? undefined : withoutGuests

novaContract('real Nova keeps the contract', () => labCloud('ct'), undefined, sentences)
