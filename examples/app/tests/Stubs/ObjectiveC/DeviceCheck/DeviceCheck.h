// The declarations of DeviceCheck that the Objective-C uses.
#import <Foundation/Foundation.h>

extern NSString *const DCErrorDomain;

typedef enum DCError : NSInteger {
  DCErrorUnknownSystemFailure,
  DCErrorFeatureUnsupported,
  DCErrorInvalidInput,
  DCErrorInvalidKey,
  DCErrorServerUnavailable,
} DCError;

@interface DCAppAttestService : NSObject
@property(class, readonly) DCAppAttestService *sharedService;
@property(readonly, getter=isSupported) BOOL supported;
- (void)generateKeyWithCompletionHandler:(void (^)(NSString *keyId, NSError *error))handler;
- (void)attestKey:(NSString *)keyId
       clientDataHash:(NSData *)hash
    completionHandler:(void (^)(NSData *attestation, NSError *error))handler;
- (void)generateAssertion:(NSString *)keyId
           clientDataHash:(NSData *)hash
        completionHandler:(void (^)(NSData *assertion, NSError *error))handler;
@end
