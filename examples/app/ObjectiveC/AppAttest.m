#import <CommonCrypto/CommonDigest.h>
#import <DeviceCheck/DeviceCheck.h>
#import <Foundation/Foundation.h>

static NSData *Digest(NSData *data) {
  NSMutableData *digest = [NSMutableData dataWithLength:CC_SHA256_DIGEST_LENGTH];
  CC_SHA256(data.bytes, (CC_LONG)data.length, digest.mutableBytes);
  return digest;
}

/// Attests a new key. After DCErrorServerUnavailable call it again later with the same client data:
/// the key is stored and used again. Store `keyId` after a success.
void AttestKey(NSData *clientData,
               void (^done)(NSString *keyId, NSData *attestation, NSError *error)) {
  NSUserDefaults *defaults = NSUserDefaults.standardUserDefaults;
  DCAppAttestService *service = DCAppAttestService.sharedService;
  if (!service.isSupported) {
    done(nil, nil, [NSError errorWithDomain:DCErrorDomain
                                       code:DCErrorFeatureUnsupported
                                   userInfo:nil]);
    return;
  }
  void (^attest)(NSString *) = ^(NSString *keyId) {
    [service attestKey:keyId
        clientDataHash:Digest(clientData)
     completionHandler:^(NSData *attestation, NSError *error) {
       BOOL isLater = [error.domain isEqualToString:DCErrorDomain]
           && error.code == DCErrorServerUnavailable;
       if (!isLater) [defaults removeObjectForKey:@"newKey"];
       done(keyId, attestation, error);
     }];
  };
  NSString *kept = [defaults stringForKey:@"newKey"];
  if (kept) {
    attest(kept);
    return;
  }
  [service generateKeyWithCompletionHandler:^(NSString *keyId, NSError *error) {
    if (!keyId) {
      done(nil, nil, error);
      return;
    }
    [defaults setObject:keyId forKey:@"newKey"];
    attest(keyId);
  }];
}

/// Signs a request body with the attested key. Send exactly these bytes.
void SignBody(NSString *keyId, NSData *body, void (^done)(NSData *assertion, NSError *error)) {
  [DCAppAttestService.sharedService generateAssertion:keyId
                                       clientDataHash:Digest(body)
                                    completionHandler:done];
}

/// The app receipt in base64; nil if the device has none, until SKReceiptRefreshRequest gets one.
NSString *AppReceipt(void) {
  NSURL *place = NSBundle.mainBundle.appStoreReceiptURL;
  NSData *receipt = place ? [NSData dataWithContentsOfURL:place] : nil;
  return [receipt base64EncodedStringWithOptions:0];
}
